//go:build unix

package files

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestReadKeepsBytesAndRefusesOtherThanText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, Options{MaxRead: 1000}, dir)
	for name, c := range map[string]struct {
		data string
		err  error
	}{
		"empty": {"", nil}, "crlf": {"a\r\nb\r\n", nil}, "bom": {"\ufeffx\n", nil}, "cr": {"a\rb", nil}, "no-newline": {"x", nil},
		"esc": {"\x1b[0m\n", nil}, "astral": {"😀\n", nil}, "replacement": {"\ufffd", nil}, "limit": {strings.Repeat("x", 1000), nil},
		"too-large": {strings.Repeat("x", 1001), ErrTooLarge}, "latin1": {"caf\xe9\n", ErrNotText}, "cut": {"caf\xc3", ErrNotText},
		"surrogate": {"\xed\xa0\x80", ErrNotText}, "nul": {"a\x00b", ErrNotText}, "utf16": {"\xff\xfea\x00", ErrNotText},
	} {
		must(t, os.WriteFile(dir+"/"+name, []byte(c.data), 0o644))
		text, err := w.ReadText(dir+"/"+name, Range{})
		if !errors.Is(err, c.err) || err == nil && text != c.data {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestReadStopsAtTheLimitWhenTheSizeIsUnknown(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc here")
	}
	w := open(t, Options{MaxRead: 100}, "/proc")
	path := fmt.Sprintf("/proc/%d/status", os.Getpid())
	if _, err := w.ReadText(path, Range{}); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// C123.
func TestReadsAndWritesMayRunTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, Options{}, dir)
	one, two := strings.Repeat("1", 50_000), strings.Repeat("2", 70_000)
	must(t, w.WriteText(dir+"/f", one))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				if i%2 == 0 {
					if err := w.WriteText(dir+"/f", []string{one, two}[i/2%2]); err != nil {
						t.Error(err)
					}
					continue
				}
				text, err := w.ReadText(dir+"/f", Range{})
				if err != nil || text != one && text != two {
					t.Errorf("%d bytes, %v", len(text), err)
				}
			}
		})
	}
	wg.Wait()
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}
