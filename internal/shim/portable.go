package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/internal/review/watch"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// Portable runs a program like Run, on every system, and compares the files of the
// project with what they were at the start, whenever the system says that something
// changed in its folders. All its events are inferred: nobody knows who changed a
// file, what it was in between, or that two changes were a rename; and nothing is
// known before it happens, so there is no gate. The journal says so from the start, see
// journal.Missing.
func Portable(c Config, path string, argv []string) (status int, err error) {
	if c, err = c.resolved(); err != nil {
		return 0, err
	}
	if c.Gate != nil {
		return 0, fmt.Errorf("shim: %w, so there is no gate", ErrUnavailable)
	}
	j, err := journal.Create(c.Journal, c.Root, c.Agent, c.Session)
	if err != nil {
		return 0, fmt.Errorf("shim: %w", err)
	}
	p := &portable{journal: j, said: make(map[string]bool), matcher: tree.NewMatcher(c.Root, nil, time.Now()), root: c.Root}
	options := tree.Options{}
	if name, ok := pathname.Below(c.Root, c.Journal); ok {
		options.Skip = []string{filepath.ToSlash(name)}
	}
	p.scanner = tree.New(c.Root, j.Store, options)
	if p.last, err = p.scanner.Scan(context.Background()); err != nil {
		j.Discard()
		return 0, fmt.Errorf("shim: %w", err)
	}
	if err := p.write([]journal.Event{unseen(Comparing, true)}); err != nil {
		j.Discard()
		return 0, fmt.Errorf("shim: %w", err)
	}
	w, err := watch.New(watch.Options{Root: c.Root, Skip: p.skips}, p.noticed)
	if err != nil {
		j.Discard()
		return 0, fmt.Errorf("shim: %w", err)
	}
	w.Roots(c.Root)

	last, delivered := make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer close(delivered)
		if c.Socket != "" {
			j.Deliver(ctx, c.Socket, last)
		}
	}()
	status, err = p.run(path, argv)
	w.Close()
	p.look(nil)
	if p.fault != nil {
		fmt.Fprintf(os.Stderr, "hermes shim: what changed last is not recorded, because the journal could not be written: %v\n", p.fault)
	}
	close(last)
	select {
	case <-delivered:
	case <-time.After(lastReports):
	}
	stop()
	<-delivered
	return status, errors.Join(err, j.Close())
}

// lastReports is how long an editor may take for the last reports.
const lastReports = 10 * time.Second

// portable compares the files of a project.
type portable struct {
	journal *journal.Writer
	scanner *tree.Scanner
	matcher *tree.Matcher
	root    string

	mu     sync.Mutex
	last   *tree.Snapshot
	said   map[string]bool // reasons in the journal why something was not seen
	fault  error           // why the journal does not have the last look
	faulty bool            // the fault has been reported
}

// Comparing is what the record of Portable cannot have.
const Comparing = "this is a record of compared files: who made a change, and what came and went between two looks, is not known"

func unseen(why string, whole bool) journal.Event {
	return journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Unseen, Text: why, Whole: whole, Inferred: true}
}

// run runs the program in the process group of this one.
func (p *portable) run(path string, argv []string) (int, error) {
	cmd := &exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	signals := make(chan os.Signal, 16)
	process.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("shim: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// A terminal sends the other two to the program as well.
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				cmd.Process.Signal(s)
			}
		case err := <-done:
			if cmd.ProcessState == nil {
				return 0, fmt.Errorf("shim: %w", err)
			}
			if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
				return -int(w.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// skips leaves out folders that git ignores.
func (p *portable) skips(folder string) bool {
	name, ok := pathname.Below(p.root, folder)
	return ok && p.matcher.Ignores(filepath.ToSlash(name)+"/")
}

func (p *portable) noticed(n watch.Notice) { p.look(n.Err) }

// look records what has changed since the last look. Changes that the journal could not take
// are found again by the next look. watched is why not every folder is watched, or nil.
func (p *portable) look(watched error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var events []journal.Event
	var fresh []string
	missed := func(why string) {
		if !p.said[why] {
			fresh, events = append(fresh, why), append(events, unseen(why, false))
		}
	}
	if watched != nil {
		missed("not everything is watched: " + watched.Error())
	}
	now, err := p.scanner.Rescan(context.Background())
	if err != nil {
		missed("the files cannot be compared: " + err.Error())
		now = p.last
	}
	if now.Unkept != nil {
		missed("contents were not kept: " + now.Unkept.Error())
	}
	for _, l := range tree.Unseen(p.last, now) {
		missed(l.Path + " cannot be compared: it is " + l.Reason.String())
	}
	for _, c := range tree.Compare(p.last, now) {
		e := journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Write, Path: filepath.Join(p.root, filepath.FromSlash(c.Path)), Before: versionOf(c.Old), After: versionOf(c.New), Inferred: true}
		switch {
		case c.What&tree.Deleted != 0:
			e.Op, e.After = journal.Remove, nil
		case c.New.IsLink():
			e.Op = journal.Symlink
		case c.What&^tree.Mode == 0:
			e.Op = journal.Chmod
		}
		events = append(events, e)
	}
	if p.fault = p.write(events); p.fault != nil {
		if !p.faulty {
			fmt.Fprintf(os.Stderr, "\r\nhermes shim: changes are not recorded while the journal cannot be written: %v\r\n", p.fault)
		}
		p.faulty = true
		return
	}
	p.last = now.After(p.last)
	for _, why := range fresh {
		p.said[why] = true
	}
}

// write puts events into the journal, all or none.
func (p *portable) write(events []journal.Event) error {
	for _, e := range events {
		if err := p.journal.Add(e); err != nil {
			return err
		}
	}
	return p.journal.Flush()
}

func versionOf(e tree.Entry) *journal.Version {
	if e.Path == "" {
		return &journal.Version{Absent: true}
	}
	v := &journal.Version{Link: e.Link, Size: e.Size}
	if !e.IsLink() {
		v.Mode = fmt.Sprintf("%o", e.Mode.Perm())
	}
	if e.Kept {
		v.Hash = e.Hash
	}
	return v
}
