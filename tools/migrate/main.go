// Command migrate reports what a program that uses github.com/coder/acp-go-sdk has to
// change to use Hermes: each use, and what replaces it. It changes nothing.
//
//	go run ./tools/migrate PATH
//
// PATH is a folder of the program; packages below it are read too. It knows the section
// "Coming from coder/acp-go-sdk" of docs/go.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sdk is the package that programs come from.
const sdk = "github.com/coder/acp-go-sdk"

const module = "github.com/hermes-nvim/hermes"

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/migrate PATH\n\nReports each use of "+sdk+" below PATH and what replaces it.")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := report(os.Stdout, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(2)
	}
}

// report writes what is used below path.
func report(w io.Writer, path string) error {
	g, err := readGuide()
	if err != nil {
		return err
	}
	uses, incomplete, err := findUses(path)
	if err != nil {
		return err
	}
	if len(uses) == 0 {
		return fmt.Errorf("%s: no Go file here uses %s", path, sdk)
	}
	for _, why := range incomplete {
		fmt.Fprintf(w, "# %s: only what the syntax shows is listed\n", why)
	}
	files, names, without := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, u := range uses {
		r, ok := g.replacement(u)
		text := r.String()
		switch {
		case !ok:
			text = "nothing"
			if r.differs != "" {
				text += " (" + r.differs + ")"
			}
			without[u.name()] = true
		case r.with == u.member && u.implements != "":
			text = "the same, params and results are pointers"
			if r.differs != "" {
				text += " (" + r.differs + ")"
			}
		}
		files[u.at.Filename], names[u.name()] = true, true
		fmt.Fprintf(w, "%s: %s -> %s\n", u.at, u, text)
	}
	fmt.Fprintf(w, "\nUses: %d, of %d names, in files: %d.\n", len(uses), len(names), len(files))
	if len(without) > 0 {
		list := make([]string, 0, len(without))
		for n := range without {
			list = append(list, n)
		}
		slices.Sort(list)
		fmt.Fprintf(w, "Without a counterpart: %s.\n", strings.Join(list, ", "))
	}
	fmt.Fprintln(w, "What behaves differently: docs/go.md, \"Coming from coder/acp-go-sdk\".")
	return nil
}

// root returns the folder of this module, in which the tool is run.
func root() (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("run this in a checkout of %s: go run ./tools/migrate PATH", module)
	}
	return filepath.Clean(dir), nil
}
