//go:build unix

package gitdir

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git in a folder and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func readText(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// What git has is found, wherever git keeps it.
func TestObjectsOfGitAreFound(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			repo := filepath.Join(dir, "repo")
			git(t, dir, "init", "-q", "--object-format="+format, repo)
			hash := map[string]int{"sha1": 20, "sha256": 32}[format]
			name := func(i int) string { return filepath.Join(repo, fmt.Sprint("f", i)) }
			text := func(i int) string { return strings.Repeat(fmt.Sprint("text ", i, "\n"), i) }
			for i := range 300 {
				if err := os.WriteFile(name(i), []byte(text(i)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := OpenObjects(filepath.Join(repo, ".git"), hash, readText)
			defer o.Close()
			count := func(o *Objects) (has, packed int) {
				for i := range 300 {
					id, err := o.Blob(strings.NewReader(text(i)), int64(len(text(i))))
					if err != nil {
						t.Fatal(err)
					}
					if i%100 == 0 {
						if want := git(t, repo, "hash-object", name(i)); id != want {
							t.Fatalf("%s, want %s", id, want)
						}
					}
					if o.Has(id) {
						has++
					}
					if o.Packed(id, func(string) bool { return true }) {
						packed++
					}
				}
				return has, packed
			}
			for _, step := range []struct {
				args        []string
				has, packed int
			}{
				{nil, 0, 0},
				{[]string{"add", "."}, 300, 0},
				{[]string{"commit", "-qm", "one"}, 300, 0},
				{[]string{"gc", "-q"}, 300, 300},
				{[]string{"repack", "-qadf"}, 300, 300},
			} {
				if step.args != nil {
					git(t, repo, step.args...)
				}
				if has, packed := count(o); has != step.has || packed != step.packed {
					t.Errorf("after %q: %d, packed: %d", step.args, has, packed)
				}
			}
			git(t, dir, "clone", "-q", "--shared", repo, "borrows")
			b := OpenObjects(filepath.Join(dir, "borrows", ".git"), hash, readText)
			defer b.Close()
			if has, _ := count(b); has != 300 {
				t.Errorf("one that borrows: %d", has)
			}
			for _, id := range []string{"", "xyz", strings.Repeat("0", 2*hash), strings.Repeat("f", 2*hash), strings.Repeat("f", 2*hash-2)} {
				if o.Has(id) {
					t.Errorf("it has %q", id)
				}
			}
		})
	}
}

// An index that is damaged has nothing.
func FuzzPacks(f *testing.F) {
	dir := f.TempDir()
	good := append([]byte("\xfftOc\x00\x00\x00\x02"), make([]byte, 4*256)...)
	for i := range 256 {
		good[8+4*i+3] = 1
	}
	good = append(good, make([]byte, 20)...)
	f.Add(good)
	f.Add(good[:100])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "pack-x.idx")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := openPack(path, 20)
		if err != nil {
			return
		}
		defer p.file.Close()
		for i := range 256 {
			id := make([]byte, 20)
			id[0] = byte(i)
			p.has(id)
		}
	})
}
