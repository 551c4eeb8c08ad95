package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// A write after the turn by a process that an agent has left behind counts as the user's: it is
// not under review, and no rejection takes it away.
func TestWhatIsWrittenAfterTheTurnIsTheUsers(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		notes, later, made := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "later.txt"), filepath.Join(dir, "made.txt")
		signals := t.TempDir()
		begin, end := filepath.Join(signals, "begin"), filepath.Join(signals, "end")
		e := open()
		e.open()
		e.prompt("EDIT " + later + ` ONE\n` + "\n" + fmt.Sprintf("LOOSE until [ -e '%s' ]; do sleep 0.02; done; cd '%s'; echo late >> notes.txt; echo late >> later.txt; echo late > made.txt; : > '%s'", begin, dir, end))
		e.until(`done.turn`)
		e.lua(`ask("files")`)
		e.until(`done.ask and #done.ask.result.files == 1`)
		if err := os.WriteFile(begin, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		patience.True(t, "what was left behind has written", func() bool {
			_, err := os.Stat(end)
			return err == nil
		})
		e.lua(`vim.cmd.checktime()`)
		e.until(`vim.fn.getline(4) == "late"`)
		e.lua(`ask("files")`)
		e.until(`done.ask`)
		e.is(`vim.tbl_map(function(file) return { vim.fs.basename(file.path), file.added, file.removed } end, done.ask.result.files)`, [][]any{{"later.txt", 1, 1}})
		e.is(`hunks("notes.txt")`, 0)
		e.lua(`ask("reject", "all")`)
		e.until(`done.ask`)
		for path, want := range map[string]string{notes: "one\ntwo\nthree\nlate\n", later: "one\nlate\n", made: "late\n"} {
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s has %q, %v; want %q", path, got, err, want)
			}
		}
	})
}
