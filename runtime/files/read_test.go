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

func TestPeekSaysHowLargeAFileIsAndReadsSmallTexts(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	w := open(t, Options{MaxRead: 4}, dir)
	must(t, os.WriteFile(out+"/key", []byte("key"), 0o644))
	must(t, os.Symlink(out+"/key", dir+"/link"))
	for name, c := range map[string]struct {
		data, want string
		limit      int64
		text       bool
	}{
		"small": {data: "abc", want: "abc", limit: 3, text: true}, "larger": {data: "abcd", limit: 3}, "huge": {data: "abcdefgh", limit: 3},
		"binary": {data: "\x00", limit: 3}, "unread": {data: "abc"},
	} {
		must(t, os.WriteFile(dir+"/"+name, []byte(c.data), 0o644))
		p, err := w.Peek(dir+"/"+name, c.limit)
		if err != nil || p.Text != c.want || p.IsText != c.text || p.Size != int64(len(c.data)) || p.Name != name {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if p, err := w.Peek(dir+"/link", 9); !errors.Is(err, ErrOutside) || p.Text != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if !w.Covers(dir+"/link") || !w.Covers(dir+"/none") || w.Covers(out+"/key") {
		t.Error("what is below a root by its name")
	}
}
