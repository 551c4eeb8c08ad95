package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/test/editors"
)

const decidedFiles = 12

// Neovim, the host, or both are killed while an agent writes and the user decides
// and saves. Each decision was taken or was not, and each one that Neovim knew of
// was; what the user saved is theirs.
func TestTheReviewSurvivesTheEndOfNeovim(t *testing.T) {
	t.Parallel()
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			state := editors.StateDir(t)
			for round := range 6 {
				killed(t, program.Path, dir, state, round)
			}
		})
	}
}

// killed is one round.
func killed(t *testing.T, program, dir, state string, round int) {
	name := func(i int) string { return fmt.Sprintf("r%d-%d.txt", round, i) }
	script := []string{fmt.Sprintf(`RUN for f in %s/r%d-*.txt; do echo new > "$f"; done`, dir, round)}
	for i := range decidedFiles {
		if err := os.WriteFile(filepath.Join(dir, name(i)), []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown := filepath.Join(dir, fmt.Sprintf("shown%d.txt", round))
	if err := os.WriteFile(shown, []byte("base\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		script = append(script, fmt.Sprintf(`WRITE %s base\nagent %d`, shown, i))
	}
	e := newEditorIn(t, program, dir, state)
	e.lua(`hermes.setup({ review = true })`)
	e.lua(`vim.cmd.edit(...)`, shown)
	e.open()
	e.lua(`hermes.prompt(s, ...)`, strings.Join(append(script, "WAIT 10m"), "\n"))
	e.lua(`
function _G.edited(pattern)
  return #vim.tbl_filter(function(data) return data.path:find(pattern) end, of("FileEdited"))
end`)
	e.until(fmt.Sprintf(`edited("/r[%%d-]+.txt$") == %d and edited("shown") > 0`, decidedFiles))
	e.script("decide", dir, round, decidedFiles)
	e.until(fmt.Sprintf(`#acked > %d`, 1+round*3/2))

	var acked, saved []string
	var neovim int
	host := e.hostPID()
	err := errors.Join(e.v.Eval("getpid()", &neovim), e.v.ExecLua(`return acked`, &acked), e.v.ExecLua(`return saved`, &saved))
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range [][]int{{neovim}, {host}, {neovim, host}}[round%3] {
		if err := end(pid); err != nil {
			t.Fatal(err)
		}
	}
	if round%3 == 1 {
		e.v.Close()
	}

	p := reopened(t, filepath.Join(state, "nvim", "hermes"), dir)
	defer p.Close()
	for i := range decidedFiles {
		base, current, _ := p.Review().Known(name(i))
		disk, err := os.ReadFile(filepath.Join(dir, name(i)))
		if err != nil {
			t.Fatal(err)
		}
		decided := "new\n"
		if i%2 == 1 {
			decided = "old\n"
		}
		is := [3]string{base.Text, current.Text, string(disk)}
		if is != [3]string{decided, decided, decided} && (i < len(acked) || is != [3]string{"old\n", "new\n", "new\n"}) {
			t.Errorf("round %d: file %d of %d has base, text and disk %q", round, i, len(acked), is)
		}
	}
	for _, problem := range acked {
		if problem != "done" {
			t.Errorf("round %d: %s", round, problem)
		}
	}
	if disk, err := os.ReadFile(shown); err != nil || len(disk) == 0 {
		t.Logf("round %d: Neovim was killed while it wrote the file: %v", round, err)
		return
	}
	base, current, _ := p.Review().Known(filepath.Base(shown))
	lines := strings.Split(base.Text, "\n")
	for _, line := range saved {
		if !slices.Contains(lines, line) || strings.Count(current.Text, line+"\n") != 1 {
			t.Errorf("round %d: the user's line %q is lost in %q and %q", round, line, base.Text, current.Text)
		}
	}
	for _, h := range p.Review().Hunks(filepath.Base(shown)) {
		if text := strings.Join(h.New, ""); h.Kind == review.Text && strings.Contains(text, "mine") {
			t.Errorf("round %d: the agent's hunk has a line of the user: %q", round, text)
		}
	}
}

// reopened opens the review as soon as the host is gone.
func reopened(t *testing.T, state, dir string) *project.Project {
	t.Helper()
	deadline := time.Now().Add(patience.Soon)
	for {
		p, err := project.Open(state, dir, project.Options{Program: "test"})
		if err == nil {
			if err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			return p
		}
		if !errors.Is(err, store.ErrLocked) || time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func end(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
