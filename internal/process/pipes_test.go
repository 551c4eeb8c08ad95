//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
)

func TestPipesLeadToTheProgram(t *testing.T) {
	t.Parallel()
	x := exec.Command("sh", "-c", "cat; echo err >&2")
	var ours Pipes
	if err := Piped(x, func(p Pipes) error { ours = p; return x.Start() }); err != nil {
		t.Fatal(err)
	}
	ours.Stdin.WriteString("text")
	ours.Stdin.Close()
	if err := x.Wait(); err != nil {
		t.Error(err)
	}
	// They stay open after the end, and end, because nobody else has the other ends.
	for f, want := range map[*os.File]string{ours.Stdout: "text", ours.Stderr: "err\n"} {
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
		f.Close()
	}
}

func TestPipesOfAProgramThatCannotStartAreClosed(t *testing.T) {
	t.Parallel()
	x := exec.Command("/dev/null")
	var all []*os.File
	err := Piped(x, func(p Pipes) error {
		all = []*os.File{p.Stdin, p.Stdout, p.Stderr, x.Stdin.(*os.File), x.Stdout.(*os.File), x.Stderr.(*os.File)}
		return x.Start()
	})
	if err == nil {
		t.Error("started")
	}
	for i, f := range all {
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
