//go:build amd64 || arm64

package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// changeKinds are commands that change files in every way that programs do, and the
// files of which something is then pending.
var changeKinds = map[string]struct {
	command string
	files   string
}{
	"create":                   {`echo x > new`, "new"},
	"create nothing":           {`: > new`, "new"},
	"append":                   {`echo x >> a`, "a"},
	"rewrite":                  {`echo x > a`, "a"},
	"in the middle":            {`printf X | dd of=a bs=1 seek=2 conv=notrunc status=none`, "a"},
	"truncate":                 {`truncate -s 1 a`, "a"},
	"empty it to read it":      {`python3 -c 'import os; os.open("a", os.O_RDONLY | os.O_TRUNC)'`, "a"},
	"delete":                   {`rm a`, "a"},
	"rename":                   {`mv a z`, "a z"},
	"rename over":              {`mv a d/x`, "a d/x"},
	"rename a folder":          {`mv d e`, "d/x d/y e/x e/y"},
	"exchange":                 {`python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b"a", -100, b"run", 2)'`, "a run"},
	"delete a folder":          {`rm -r d`, "d/x d/y"},
	"a folder and a file":      {`mkdir -p n/m; echo x > n/m/f`, "n/m/f"},
	"in place":                 {`sed -i s/2/two/ a`, "a"},
	"a temporary file":         {`echo x > a.tmp; mv a.tmp a`, "a"},
	"a copy":                   {`cp -p run copy`, "copy"},
	"an installed file":        {`install -m 755 a bin`, "bin"},
	"permissions":              {`chmod 700 a`, "a"},
	"permissions of a new one": {`echo x > new; chmod +x new`, "new"},
	"no permissions":           {`chmod 0 a`, "a"},
	"text and permissions":     {`{ echo x; chmod 755 a; } >> a`, "a"},
	"bytes":                    {`printf 'a\0b' > bytes; printf 'x\0' >> raw`, "bytes raw"},
	"a link":                   {`ln -s a soft`, "soft"},
	"a link that leads on":     {`ln -sfn b l`, "l"},
	"through a link":           {`echo x >> l`, "a"},
	"another name":             {`ln a hard`, "hard"},
	"by memory":                {`python3 -c 'import mmap; f = open("a", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:1] = b"X"; m.close(); f.close()'`, "a"},
	"a folder in its place":    {`rm a; mkdir a; echo x > a/in`, "a a/in"},
	"any name":                 {"echo x > 'ä ü'; echo x > '-n'", "-n|ä ü"},
}

func (r *reviewed) tree() map[string]string {
	r.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if d.IsDir() {
			what = "a folder" // a review does not have its permissions
		}
		switch {
		case info.Mode().IsRegular():
			what += " " + readFile(r.t, path)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " " + to
		}
		all[strings.TrimPrefix(path, r.root)] = what
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// Every kind of change is known exactly, and rejecting it gives back what was there.
func TestEachKindOfChangeIsExactAndIsGivenBack(t *testing.T) {
	t.Parallel()
	shimHere(t)
	for name, kind := range changeKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(kind.command, "python3") {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip(err)
				}
			}
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r := &reviewed{t: t, state: filepath.Join(sockdir.New(t), "nvim", "hermes"), root: root}
			for name, text := range map[string]string{"a": "1\n2\n3\n", "b": "b\n", "d/x": "x\n", "d/y": "y\n", "raw": "\x00\x01", "run": "#!/bin/sh\n"} {
				write(t, filepath.Join(root, name), text)
			}
			for _, err := range []error{os.Chmod(filepath.Join(root, "run"), 0o755), os.Symlink("a", filepath.Join(root, "l"))} {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := r.tree()
			r.open()
			r.Scan(review.Author{})
			r.wait()
			stop, err := r.Listen()
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			cmd := hermes(t, root, "shim", "--root", root, "--", "sh", "-c", kind.command)
			cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=")
			if out, errs, status := end(t, cmd); status != 0 || out+errs != "" {
				t.Fatalf("exit status %d\n%s%s", status, out, errs)
			}
			want := strings.FieldsFunc(kind.files, func(c rune) bool { return c == '|' || c == ' ' && !strings.Contains(kind.files, "|") })
			var names []string
			for until := time.Now().Add(patience.Soon); !slices.Equal(names, want); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("pending: %q, want %q", names, want)
				}
				r.wait()
				names = nil
				for _, f := range r.Review().Files() {
					names = append(names, f.Path)
				}
			}
			for _, name := range names {
				for _, h := range r.Review().Hunks(name) {
					if slices.ContainsFunc(h.Authors, func(a review.Author) bool { return a.Inferred || a.Source != "shim" }) {
						t.Errorf("%s: %+v", name, h)
					}
				}
			}
			plan, err := r.Reject(review.Selection{}, false)
			if err == nil {
				err = r.Apply(plan, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if after := r.tree(); !maps.Equal(after, before) {
				t.Errorf("%q\nwas\n%q", after, before)
			}
		})
	}
}
