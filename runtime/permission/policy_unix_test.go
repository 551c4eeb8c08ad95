//go:build unix

package permission

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/patience"
)

const goodFile = `{"version":1,"rules":[{"action":"allow","scope":"always"}]}`

// openSoon is Open, which must not wait for another process.
func openSoon(t *testing.T, path string) (*Policy, error) {
	t.Helper()
	type opened struct {
		p   *Policy
		err error
	}
	done := make(chan opened, 1)
	go func() {
		p, err := Open(path)
		done <- opened{p, err}
	}()
	select {
	case o := <-done:
		return o.p, o.err
	case <-time.After(patience.Soon):
		t.Fatalf("%s: Open hangs", path)
		return nil, nil
	}
}

// T05, T44. A file that another user may have written is set aside.
func TestAFileThatOthersCanWriteIsSetAside(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]struct {
		why  string
		make func(t *testing.T, path string)
	}{
		"named pipe":                  {"named pipe", func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }},
		"directory":                   {"directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }},
		"link that leads nowhere":     {"no such file", func(t *testing.T, path string) { must(t, os.Symlink("none", path)) }},
		"link to one writable by all": {"mode", func(t *testing.T, path string) { must(t, os.Symlink(other(t, 0o666, 0o700), path)) }},
		"link to a folder of others":  {"mode", func(t *testing.T, path string) { must(t, os.Symlink(other(t, 0o600, 0o777), path)) }},
		"link to a device":            {"not a regular file", func(t *testing.T, path string) { must(t, os.Symlink(os.DevNull, path)) }},
		"writable by the group":       {"mode", func(t *testing.T, path string) { write(t, path, 0o660) }},
		"of another user": {"another user", func(t *testing.T, path string) {
			write(t, path, 0o600)
			if err := os.Chown(path, 54321, -1); err != nil {
				t.Skip(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "d", "rules.json")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			put.make(t, path)
			p, err := openSoon(t, path)
			var aside *SetAsideError
			if p == nil || len(p.Rules()) != 0 || !errors.As(err, &aside) || !strings.Contains(err.Error(), put.why) {
				t.Fatal(err)
			}
			must(t, p.Add(t.Context(), Rule{Action: Deny, Scope: Always}))
			if again, err := openSoon(t, path); err != nil || len(again.Rules()) != 1 {
				t.Error(err)
			}
		})
	}
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(goodFile), 0o600))
	must(t, os.Chmod(path, mode))
}

// other is a valid file of one mode elsewhere, in a folder of another mode.
func other(t *testing.T, mode, dirMode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other", "rules.json")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	write(t, path, mode)
	must(t, os.Chmod(filepath.Dir(path), dirMode))
	return path
}

func TestALinkToAFileOfTheUserIsFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rules.json")
	must(t, os.Symlink(other(t, 0o600, 0o755), path))
	if p, err := Open(path); err != nil || len(p.Rules()) != 1 {
		t.Error(err)
	}
}

// Nothing in a folder that others can write to can be trusted, not even a file that is
// created there now.
func TestAFolderOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(string) error{
		"writable by the group": func(dir string) error { return os.Chmod(dir, 0o770) },
		"writable by all":       func(dir string) error { return os.Chmod(dir, 0o1777) },
		"of another user":       func(dir string) error { return os.Chown(dir, 54321, -1) },
	} {
		path := other(t, 0o600, 0o700)
		dir := filepath.Dir(path)
		if err := spoil(dir); errors.Is(err, os.ErrPermission) {
			continue // only root gives folders away
		}
		p, err := openSoon(t, path)
		if p == nil || len(p.Rules()) != 0 || !errors.Is(err, ErrNotOwn) || !strings.Contains(err.Error(), "chmod go-w") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must(t, p.Configure([]Rule{{Action: Deny}}))
		if got, _ := p.Decide(Request{Kind: read}); got != Denied {
			t.Errorf("%s: the configured rules are not in force", name)
		}
		if err := p.Add(t.Context(), Rule{Action: Allow, Scope: Always}); !errors.Is(err, ErrNotOwn) {
			t.Errorf("%s: kept a rule: %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != goodFile {
			t.Errorf("%s: the file holds %s, %v", name, data, err)
		}
	}
}

// Much time may pass between Open and Add, and another process may change the file.
func TestAFileIsCheckedWheneverItIsRead(t *testing.T) {
	t.Parallel()
	path := other(t, 0o600, 0o700)
	p, err := Open(path)
	must(t, err)
	must(t, os.Remove(path))
	must(t, syscall.Mkfifo(path, 0o600))
	done := make(chan error, 1)
	go func() { done <- p.Add(t.Context(), Rule{Action: Deny, Scope: Always}) }()
	select {
	case err := <-done:
		if !errors.Is(err, atomicfile.ErrNotRegular) {
			t.Error(err)
		}
	case <-time.After(patience.Soon):
		t.Fatal("Add hangs")
	}
}

// Another process may be stopped while it changes the file.
func TestRulesDecideWhileTheFileIsLocked(t *testing.T) {
	t.Parallel()
	path := other(t, 0o600, 0o700)
	p, err := Open(path)
	must(t, err)
	must(t, p.Add(t.Context(), Rule{Action: Deny, Scope: Once, Kind: read}))
	l, err := os.Create(path + ".lock")
	must(t, err)
	defer l.Close()
	must(t, syscall.Flock(int(l.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	for range cap(failed) {
		go func() { failed <- p.Add(ctx, Rule{Action: Deny, Scope: Always}) }()
	}
	patience.True(t, "a wait for the lock", func() bool { return len(p.writing) > 0 })
	if got, _ := p.Decide(Request{Kind: read}); got != Denied {
		t.Error("the rule for one question is not in force")
	}
	p.EndSession("s")
	cancel()
	for range cap(failed) {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if got, _ := p.Decide(Request{Kind: read}); got == Denied {
		t.Error("a rule that could not be kept is in force")
	}
}
