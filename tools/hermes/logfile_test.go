package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// inLogs returns the records of each file of a folder.
func inLogs(t *testing.T, dir string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string][]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		logs[e.Name()] = strings.Fields(string(text))
	}
	return logs
}

func TestALogIsSetAsideAtItsSizeAndAFewAreKept(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int64]string{
		0: "map[log:[8]]",
		1: "map[log:[8] log.1:[6 7]]",
		3: "map[log:[8] log.1:[6 7] log.2:[4 5] log.3:[2 3]]",
	} {
		dir := t.TempDir()
		l := &logFile{path: filepath.Join(dir, "log"), max: 4, keep: keep}
		if err := l.open(); err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for i := range 9 {
			if _, err := fmt.Fprintln(l, i); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(inLogs(t, dir)); got != want {
			t.Errorf("keep %d: %s, want %s", keep, got, want)
		}
	}
}

func TestProcessesShareALogThatIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, records = 4, 200
	var all sync.WaitGroup
	for w := range writers {
		l := &logFile{path: filepath.Join(dir, "log"), max: 2000, keep: 100}
		if err := l.open(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer l.Close()
			for i := range records {
				if _, err := fmt.Fprintf(l, "%d-%d\n", w, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var got []string
	logs := inLogs(t, dir)
	for _, records := range logs {
		got = append(got, records...)
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != writers*records {
		t.Errorf("%d of %d records in %d files", n, writers*records, len(logs))
	}
	if len(logs) < 2 {
		t.Error("nothing was set aside")
	}
}
