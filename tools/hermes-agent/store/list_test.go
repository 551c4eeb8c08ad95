package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// many makes sessions, the last of which changed last. Every third is of another folder, and
// every ten changed at the same time.
func many(t testing.TB, n int, title string) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Hour)
	for i := range n {
		id := acp.SessionID(fmt.Sprintf("s%06d", i))
		facts := fmt.Sprintf(`{"id":%q,"cwd":"/w%d","title":%q,"created":"2026-01-01T00:00:00Z"}`, id, i%3/2, title)
		at := began.Add(time.Duration(i/10) * time.Second)
		log := filepath.Join(s.dir, string(id)+".jsonl")
		if err := errors.Join(os.WriteFile(filepath.Join(s.dir, string(id)+".json"), []byte(facts), 0o600), os.WriteFile(log, nil, 0o600), os.Chtimes(log, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPagesHaveEachSessionOnceWhateverHappensMeanwhile(t *testing.T) {
	t.Parallel()
	s := many(t, 95, "x")
	for _, test := range []struct {
		cwd   string
		most  int
		pages int
		want  int
	}{{"", 10, 10, 95}, {"", 95, 1, 95}, {"", 94, 2, 95}, {"/w0", 16, 4, 64}, {"/w1", 40, 1, 31}, {"/elsewhere", 10, 1, 0}, {"", 0, 1, 95}} {
		whole, err := s.List(test.cwd)
		if err != nil || len(whole) != test.want {
			t.Fatalf("%+v: %d sessions, %v", test, len(whole), err)
		}
		var got []Info
		pages, next := 0, ""
		for {
			list, after, err := s.Page(test.cwd, next, test.most)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, list...)
			pages++
			if next = after; next == "" {
				break
			}
			// One that changes now comes before all of them.
			if info, err := s.Create(Info{ID: NewID(), Cwd: test.cwd}); err != nil || info.Close() != nil {
				t.Fatal(err)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(whole) || pages != test.pages {
			t.Errorf("%+v: %d sessions on %d pages", test, len(got), pages)
		}
		now, _ := filepath.Glob(filepath.Join(s.dir, "20*"))
		for _, name := range now {
			os.Remove(name)
		}
	}
	for _, bad := range []string{"x", "-", "5", "-s1", "1-../x", "1-S"} {
		if _, _, err := s.Page("", bad, 10); !errors.Is(err, ErrCursor) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The facts of a thousand sessions are not read for one page.
func TestAPageReadsOnlyItsSessions(t *testing.T) {
	const sessions, size, most = 1000, 50_000, 10
	s := many(t, sessions, strings.Repeat("x", size))
	next := ""
	for page := range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, cursor, err := s.Page("", next, most)
		runtime.ReadMemStats(&after)
		if err != nil || len(list) != most {
			t.Fatalf("%d sessions, %v", len(list), err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > sessions*size/4 {
			t.Errorf("page %d takes %d MiB, and its sessions have %d KiB", page, used>>20, most*size>>10)
		}
		next = cursor
	}
}

func BenchmarkPagesOfSessions(b *testing.B) {
	s := many(b, 5000, "Fix the failing test")
	for b.Loop() {
		next := ""
		for {
			_, after, err := s.Page("", next, 50)
			if err != nil {
				b.Fatal(err)
			}
			if next = after; next == "" {
				break
			}
		}
	}
}
