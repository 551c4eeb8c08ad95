package host

import (
	"os"
	"testing"
	"time"
)

// A program empties a file and then writes it. A merge must not take the empty file for
// what the file has become: the lines would be gone from the buffer, and from the text that
// both have in common, so that no later merge could succeed.
func TestAMergeWaitsForAFileThatIsBeingWritten(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		begin    func(s *screen)
	}{
		"emptied during a merge": {"disk.settle_gone_ms = 600000; disk.settle_limit_ms = 600000", func(s *screen) {
			s.script("emptied_in_merge", s.path)
			s.prompt("EDIT " + s.path + ` alpha\nbeta\ngamma!\n`)
			s.until("merges > 0")
		}},
		// It has the time of the write before for a while.
		"emptied with its old time": {"disk.settle_gone_ms = 600000; disk.settle_limit_ms = 600000", func(s *screen) {
			s.empty()
			s.prompt("SAY a look at the end of a turn")
		}},
		// It stays empty for longer than anybody waits. The user gets a notice, and nothing is
		// lost.
		"empty for long": {"disk.settle_gone_ms = 1", func(s *screen) {
			s.empty()
			s.prompt("SAY a look at the end of a turn")
			s.is(`#require("hermes").conflicts()`, 1)
			s.has("alpha", "beta", "gamma", "mine")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryScreen(t, func(t *testing.T, s *screen) {
				s.lua(`local disk = require("hermes.core.disk"); ` + c.settings)
				s.keys("Gomine<Esc>")
				c.begin(s)
				s.file("hello.txt", "alpha\nbeta\ngamma!!\n")
				s.prompt("SAY another look")
				s.has("alpha", "beta", "gamma!!", "mine")
				s.is(`#require("hermes").conflicts()`, 0)
				s.saves()
				if got := s.disk(); got != "alpha\nbeta\ngamma!!\nmine\n" {
					t.Errorf("the file holds %q", got)
				}
			})
		})
	}
}

// A buffer without edits follows a file only when somebody has written it.
func TestABufferWaitsForAFileThatIsBeingWritten(t *testing.T) {
	inEveryScreen(t, func(t *testing.T, s *screen) {
		s.lua(`local disk = require("hermes.core.disk"); disk.settle_gone_ms = 600000; disk.settle_limit_ms = 600000`)
		s.empty()
		s.prompt("SAY a look at the end of a turn")
		s.has("alpha", "beta", "gamma")
		s.file("hello.txt", "alpha\nbeta\ngamma!!\n")
		s.has("alpha", "beta", "gamma!!")
	})
}

// empty begins a write as ext4 shows it: the file is empty, and has its old time.
func (s *screen) empty() {
	s.t.Helper()
	old := time.Now().Add(-time.Minute)
	if err := os.Truncate(s.path, 0); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chtimes(s.path, old, old); err != nil {
		s.t.Fatal(err)
	}
}
