//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// Each side learns that the other has closed a stream, as without a recorder.
func TestAClosedStreamIsClosedForTheOtherSide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := hermes(t, dir, "record", "--out", "r.jsonl", "--", "sh", "-c", "exec <&- >&-; read wait < gate; exit 5")
	gate := filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Skip(err)
	}
	in, out := begin(t, cmd)
	late := time.AfterFunc(patience.Soon, func() { cmd.Process.Kill() })
	defer late.Stop()
	rest, err := io.ReadAll(out)
	if err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	for err == nil {
		_, err = in.Write([]byte("is anybody there?\n"))
	}
	if !errors.Is(err, syscall.EPIPE) || !late.Stop() {
		t.Error(err)
	}
	os.WriteFile(gate, []byte("go\n"), 0)
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != 5 {
		t.Error(cmd.ProcessState)
	}
}
