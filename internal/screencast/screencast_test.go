package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/editors"
)

func TestTheAnimationIsDrawnFromItsRecording(t *testing.T) {
	t.Parallel()
	cast, err := os.ReadFile("../../docs/images/demo.cast")
	if err != nil {
		t.Fatal(err)
	}
	r, err := decode(cast)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.encode(); err != nil || !bytes.Equal(again, cast) {
		t.Errorf("the recording is not one of this program (%v)", err)
	}
	if svg, err := os.ReadFile("../../docs/images/demo.svg"); err != nil || !bytes.Equal(svg, animation(r)) {
		t.Errorf("docs/images/demo.svg is stale (%v): make pictures", err)
	}
}

func TestPicturesAreSmall(t *testing.T) {
	t.Parallel()
	for name := range scenes {
		file, err := os.Stat(filepath.Join("../../docs/images", name+".svg"))
		if err != nil {
			t.Error(err)
		} else if file.Size() > 1<<20 {
			t.Errorf("%s.svg has %d bytes", name, file.Size())
		}
	}
}

func TestTheScreenIsWhatNeovimDraws(t *testing.T) {
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			dir := t.TempDir()
			socket := filepath.Join(dir, "s")
			t.Setenv("XDG_STATE_HOME", dir)
			term, err := open(t.Context(), 70, 20, program.Path, "--clean", "-n", "--listen", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := term.close(); err != nil {
					t.Error(err)
				}
			}()
			for _, s := range (scene{
				{wait: "[No Name]", keys: ":help\r"},
				{wait: "[RO]", keys: "\x04\x04\x15:vsplit\r"},
				{wait: "[RO]", keys: "5\x05:set list\r:new\r"},
				{wait: "[No Name]", keys: "iwide 日本 and e\u0301 → \x1b30oline\x1bggddP"},
				{wait: "line", keys: ":wincmd p\r3\x05\x19"},
			}) {
				if err := term.wait(s.wait); err != nil {
					t.Fatal(err)
				}
				if err := term.keys(s.keys); err != nil {
					t.Fatal(err)
				}
			}
			const its = `luaeval("(function() local all = {} for row = 1, vim.o.lines do local line = {} for column = 1, vim.o.columns do line[column] = vim.fn.screenstring(row, column) end all[row] = table.concat(line) end return table.concat(all, string.char(10)) end)()")`
			want, got := "", ""
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				out, err := exec.Command(program.Path, "--server", socket, "--remote-expr", its).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				want, got = strings.TrimSpace(string(out)), strings.TrimSpace(term.text())
				if got == want && strings.Contains(want, "wide 日本") {
					return
				}
			}
			t.Errorf("the screen has\n%s\nNeovim has\n%s", got, want)
		})
	}
}
