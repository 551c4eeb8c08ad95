package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// shimDoctor tries out what the shim can do on this system.
func shimDoctor(std *stdio) error {
	say := func(what string, err error) {
		answer := "yes"
		if err != nil {
			answer = "no: " + oneLine(err.Error())
		}
		fmt.Fprintf(std.out, "%-9s %s\n", what, answer)
	}
	observe := tryShim(shim.Config{})
	say("observe", observe)
	say("gate", tryShim(shim.Config{Gate: &shim.Gate{}}))
	var confined error
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		confined = errors.New(strings.Join(lacks, "; "))
	}
	say("confine", confined)
	if folders, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches"); err == nil {
		fmt.Fprintf(std.out, "%-9s at most %s\n", "folders", strings.TrimSpace(string(folders)))
	}
	if observe != nil {
		fmt.Fprintln(std.out, "Changes are found by watching files, and are inferred.")
		return &exit{Status: 1}
	}
	return nil
}

// tryShim changes a file in a shim, and looks for it in the journal.
func tryShim(c shim.Config) (err error) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hermes-shim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.Root, c.Journal = filepath.Join(dir, "project"), filepath.Join(dir, "journal")
	if err := os.Mkdir(c.Root, 0o700); err != nil {
		return err
	}
	if c.Gate != nil {
		c.Gate.Allow = []string{c.Root}
		c.Gate.Deny = []string{filepath.Join(c.Root, "denied")}
	}
	const script = `cd "$1" || exit; echo changed > file; (echo changed > denied) 2> /dev/null; test -s file`
	status, err := shim.Run(c, shimChild, sh, []string{"sh", "-c", script, "sh", c.Root})
	if err != nil {
		return err
	}
	if status != 0 {
		return errors.New("a program in the shim cannot write")
	}
	seen, err := journalled(c.Journal)
	switch {
	case err != nil:
		return err
	case !slices.Contains(seen, "post file"):
		return errors.New("a change was not seen")
	case c.Gate != nil && !slices.Contains(seen, "denied denied"):
		return errors.New("a change was not denied")
	}
	return nil
}

// journalled lists the phases and names of the events of a journal.
func journalled(dir string) (list []string, err error) {
	r, err := journal.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, string(e.Phase)+" "+filepath.Base(e.Path))
	}
}
