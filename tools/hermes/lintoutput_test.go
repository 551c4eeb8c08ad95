package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAReportIsWrittenAsAWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "report.txt")
	whole := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	full := errors.New("the disk is full")
	half := func(w io.Writer) error {
		io.WriteString(w, "ne")
		if text, err := os.ReadFile(name); err == nil && string(text) != "old" {
			t.Errorf("while it is written, the report is %q", text)
		}
		return full
	}
	if err := writeReport(name, half); !errors.Is(err, full) || !strings.Contains(err.Error(), "report.txt") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a report: %v", err)
	}
	write(t, name, "old")
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeReport(name, half); !errors.Is(err, full) || readFile(t, name) != "old" {
		t.Errorf("%v, and the report is %q", err, readFile(t, name))
	}
	link := filepath.Join(dir, "link.txt")
	if err := os.Symlink("report.txt", link); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	} else if err == nil {
		name = link
	}
	if err := writeReport(name, whole); err != nil || readFile(t, filepath.Join(dir, "report.txt")) != "new" {
		t.Error(err)
	}
	if info, err := os.Lstat(name); name == link && (err != nil || info.Mode()&os.ModeSymlink == 0) {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 && name == link {
		t.Errorf("there are %v, %v", list, err)
	}
	if err := writeReport(os.DevNull, whole); err != nil {
		t.Error(err)
	}
	if err := writeReport(filepath.Join(dir, "none", "report.txt"), whole); err == nil || !strings.Contains(err.Error(), filepath.Join("none", "report.txt")) {
		t.Errorf("%v", err)
	}
}
