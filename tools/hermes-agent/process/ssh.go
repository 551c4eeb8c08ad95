package process

import (
	"context"
	"os/exec"
	"time"
)

// remember is a script that notes its process, which leads a group of its own, so
// that End finds it. Its arguments are the note, the folder and the line.
const remember = `echo $$ >"$1" && cd "$2" && sh -c "$3"; s=$?; rm -f "$1"; exit $s`

// forgetful ends the group that a note names.
const forgetful = `p=$(cat "$1") && rm -f "$1" && kill -TERM -"$p" && sleep 2; kill -KILL -"$p"`

func note(id string) string { return "/tmp/.hermes-" + id }

// endTime bounds the end of a command that runs elsewhere.
const endTime = 10 * time.Second

// SSH runs commands on another machine. The login must not ask for anything.
type SSH struct {
	Host    string   // as ssh takes it: user@host, or a name of its configuration
	Dir     string   // the folder there; empty: the home folder
	Options []string // of ssh, such as -p 2222
}

// Command runs the line in a shell over there. The folder of this machine does
// not matter.
func (s SSH) Command(_ context.Context, id string, c Command) ([]string, string, error) {
	dir := s.Dir
	if dir == "" {
		dir = "."
	}
	flags := []string{"-T"}
	if c.PTY {
		flags = []string{"-tt"}
	}
	return s.argv(flags, remember, note(id), dir, c.Line), "", nil
}

func (s SSH) argv(flags []string, script string, args ...string) []string {
	line := "exec sh -c " + quote(script) + " sh"
	for _, arg := range args {
		line += " " + quote(arg)
	}
	argv := append([]string{"ssh", "-o", "BatchMode=yes"}, s.Options...)
	return append(append(argv, flags...), "--", s.Host, line)
}

// End ends the command on the other machine.
func (s SSH) End(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	argv := s.argv([]string{"-T"}, forgetful, note(id))
	exec.CommandContext(ctx, argv[0], argv[1:]...).Run() // it may have ended, which is an error
}

// Reach is the other machine.
func (SSH) Reach(context.Context) Reach { return Machine }

// Close does nothing.
func (SSH) Close() error { return nil }
