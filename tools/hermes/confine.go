package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/confine"
)

const confineSynopsis = `[flags] -- COMMAND [ARGUMENT...]

COMMAND may read all files but secrets, change what --write names and the
temporary folder, and reach no network. The exit status is that of COMMAND, or
125 when it could not be confined, in which case it did not start.
`

// statusNotConfined is the exit status when the program did not start.
const statusNotConfined = 125

// confined runs a program that can reach only some files and networks, in place of
// this one.
func confined(_ context.Context, args []string, std *stdio) error {
	before, command := splitCommand(args)
	r, check, err := parseRules(before, std)
	if err != nil {
		return err
	}
	if check {
		lacks := r.Missing()
		if len(lacks) == 0 && !r.BestEffort {
			lacks = tried(r)
		}
		for _, lack := range lacks {
			if _, err := fmt.Fprintln(std.out, lack); err != nil {
				return err
			}
		}
		return nil
	}
	if len(command) == 0 {
		return usageError("which command? Give it after --")
	}
	path, err := exec.LookPath(command[0])
	if err == nil {
		err = confine.Exec(r, path, command, os.Environ())
	}
	return &exit{statusNotConfined, err}
}

// tried confines a program that does nothing, and returns why that does not work. The program has
// tried before what the rules forbid.
func tried(r confine.Rules) []string {
	nothing, err := exec.LookPath("true")
	if err != nil {
		return nil
	}
	rules, err := json.Marshal(r)
	if err == nil {
		var self string
		if self, err = os.Executable(); err == nil {
			var said []byte
			if said, err = exec.Command(self, "confine", "--rules", string(rules), "--", nothing).CombinedOutput(); err == nil {
				return nil
			}
			err = fmt.Errorf("a confined program does not start: %w: %s", err, bytes.TrimSpace(said))
		}
	}
	return []string{err.Error()}
}

func parseRules(args []string, std *stdio) (r confine.Rules, check bool, err error) {
	var write, read, hide list
	f := newFlags("confine", confineSynopsis, std.out)
	f.Var(&write, "write", "a folder or file that may be changed, `PATH`; may be repeated")
	f.Var(&read, "read", "a folder or file that may be read, `PATH`; may be repeated. Without it everything may be read but secrets")
	f.Var(&hide, "hide", "a folder or file that may not be read, `PATH`, in place of the usual secrets; may be repeated")
	networks := f.String("net", "none", "networks: none, all, or TCP `PORTS` such as 443,53; 53 also allows UDP")
	f.BoolVar(&r.Sockets, "sockets", false, "allow Unix sockets; behind them are programs that are not confined")
	f.BoolVar(&r.BestEffort, "best-effort", false, "start COMMAND although this system cannot keep all rules")
	f.BoolVar(&check, "check", false, "print what this system lacks to keep the rules, and start only a program that does nothing")
	whole := f.String("rules", "", "all rules as `JSON`, as a configuration of agents has them")
	rest, err := f.parse(args)
	if err != nil {
		return r, false, err
	}
	if len(rest) > 0 {
		return r, false, usageError("unexpected argument %q; a command follows --", rest[0])
	}
	if *whole != "" {
		if err := json.Unmarshal([]byte(*whole), &r); err != nil {
			return r, false, usageError("rules: %w", err)
		}
	}
	r.Write = append(r.Write, write...)
	if read != nil {
		r.Read = append(r.Read, read...)
	}
	if hide != nil {
		r.Hide = append(r.Hide, hide...)
	}
	if *whole != "" && *networks == "none" {
		return r, check, nil
	}
	r.Net, err = parseNetworks(*networks)
	return r, check, err
}

func parseNetworks(text string) (confine.Net, error) {
	switch text {
	case "none":
		return confine.Net{}, nil
	case "all":
		return confine.Net{All: true}, nil
	}
	var n confine.Net
	for _, word := range strings.Split(text, ",") {
		port, err := strconv.ParseUint(word, 10, 16)
		if err != nil || port == 0 {
			return n, usageError("net %q: want none, all, or ports from 1 to 65535 with commas between them", text)
		}
		n.Ports = append(n.Ports, uint16(port))
	}
	return n, nil
}
