//go:build amd64 || arm64

package shim_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

func TestPortableFindsChangesByComparing(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.env = []string{"SHIM_PORTABLE=1"}
	s.write("a", "one\n")
	s.write("gone", "g\n")
	s.write(".gitignore", "*.o\n")
	reports := s.editor(nil)
	out, status := s.run("sh", "-c", "echo '*' > .gitignore; echo two > a; echo n > new; echo x > x.o; rm gone; ln -s a l; echo out; kill -TERM $$")
	if out != "out\n" || status != -15 {
		t.Errorf("ended with %d\n%s", status, out)
	}
	got := s.lines(journal.Post)
	slices.Sort(got)
	want := []string{`remove gone "g\n"`, `symlink l absent ->a`, "unseen ", `write .gitignore "*.o\n" "*\n"`, `write a "one\n" "two\n"`, `write new absent "n\n"`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	for _, e := range s.events() {
		if e.Phase != "" && !e.Inferred {
			t.Errorf("nobody saw %+v", e)
		}
	}
	r := reports()
	if len(r) != 6 || r[0].Kind != feed.Unseen || !r[0].Whole || r[0].Reason != shim.Comparing {
		t.Errorf("the editor was not told how changes are found: %+v", r)
	}
	if r = r[min(1, len(r)):]; len(r) != 5 || !r[0].Author.Inferred {
		t.Errorf("the editor got %d reports: %+v", len(r), r)
	}
}

func TestPortableHasNoGate(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.env = []string{"SHIM_PORTABLE=1"}
	s.config.Gate = &shim.Gate{}
	if out, status := s.run("sh", "-c", "echo started"); status != 125 || !strings.Contains(out, "so there is no gate") {
		t.Errorf("ended with %d\n%s", status, out)
	}
}

// A record of compared files never claims to be complete, and names each file that it could not
// compare once.
func TestPortableSaysWhatItsRecordLacks(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.env = []string{"SHIM_PORTABLE=1"}
	deep := strings.TrimSuffix(strings.Repeat("d/", 202), "/")
	if out, status := s.run("sh", "-c", "mkdir -p "+deep+"; for i in 1 2 3; do echo $i > "+deep+"/f; echo $i > f; sleep 0.3; done"); status != 0 {
		t.Fatalf("ended with %d\n%s", status, out)
	}
	missing, err := journal.MissingIn(s.config.Journal)
	want := journal.Missing{Limit: shim.Comparing, Count: 1, Reason: deep[:2*201-1] + " cannot be compared: it is too deep"}
	if err != nil || missing != want {
		t.Errorf("the record lacks %+v, %v, want %+v", missing, err, want)
	}
	if text := missing.String(); text != shim.Comparing+"; 1 change was not recorded, because "+missing.Reason {
		t.Error(text)
	}
}

// Changes that the journal cannot take are recorded when there is room again, or reported as
// missing.
func TestPortableRecordsLaterWhatTheJournalCouldNotTake(t *testing.T) {
	t.Parallel()
	for name, room := range map[string]bool{"with room again": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			disk := filepath.Dir(s.config.Journal) + "/small"
			s.config.Journal = filepath.Join(disk, "journal")
			s.env = []string{"SHIM_PORTABLE=1", "D=" + disk}
			script := `exec 2> /dev/null; mkdir "$D/../many"; for i in $(seq 60); do echo $i > "$D/../many/$i"; done
				cat /dev/zero > "$D/fill"; mv "$D/../many" .; sleep 0.5; echo two > b`
			if room {
				script += `; rm "$D/fill"`
			}
			out := s.without(`mkdir -p "$D" && mount -t tmpfs -o size=300k none "$D"`, `cat "$D/journal/events.jsonl"`, "sh", "-c", script)
			said, events, _ := strings.Cut(out, "status 0\n")
			if strings.Count(said, "cannot be written: ") != 1 || strings.Contains(said, "what changed last is not recorded") == room {
				t.Errorf("it has said %q", said)
			}
			if got := strings.Count(events, `"op":"write"`); room && got != 61 || !room && got != 0 {
				t.Errorf("%d changes in\n%s", got, events)
			}
		})
	}
}
