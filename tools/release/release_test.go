package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// here is the target of this machine: the only one that tests build.
var here = target{runtime.GOOS, runtime.GOARCH}

// copyTree copies what is committed or would be, to a folder without history.
func copyTree(t *testing.T, to string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	cmd.Dir = repository
	list, err := output(cmd)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(strings.Trim(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(repository, name))
		if os.IsNotExist(err) {
			continue // removed, but not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, name), data)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = dir
	if _, err := output(cmd); err != nil {
		t.Fatal(err)
	}
}

// The second machine has the sources in another folder, below a repository in
// another state, and other settings of Go.
func TestTwoBuildsGiveTheSameBytesAndTheReleasePinsThem(t *testing.T) {
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "another", "folder")
	copyTree(t, one)
	git(t, one, "init", "-q")
	git(t, one, "add", "-A")
	git(t, one, "commit", "-q", "-m", "Begin")
	if err := os.CopyFS(two, os.DirFS(one)); err != nil {
		t.Fatal(err)
	}
	make := func(root string, args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), args, root, []target{here}, &out, io.Discard)
		return out.String(), err
	}
	if out, err := make(one, "v1.2.3"); err != nil || !strings.Contains(out, "git tag v1.2.3") {
		t.Fatal(out, err)
	}
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOFLAGS", "-buildvcs=true")
	t.Setenv("GOAMD64", "v2")
	t.Setenv("TZ", "Asia/Tokyo")
	git(t, two, "commit", "-q", "--allow-empty", "-m", "Continue")
	if err := os.Rename(filepath.Join(one, pinFile), filepath.Join(two, pinFile)); err != nil {
		t.Fatal(err)
	}
	if out, err := make(two, "-check", "v1.2.3"); err != nil || !strings.Contains(out, "pins these bytes") {
		t.Fatal(out, err)
	}
	name := "hermes-v1.2.3-" + here.String()
	for _, path := range []string{"manifest.json", "SHA256SUMS", name + ".tar.gz"} {
		a, b := readFile(t, filepath.Join(one, "dist", path)), readFile(t, filepath.Join(two, "dist", path))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", path)
		}
	}

	t.Run("archive", func(t *testing.T) { checkArchive(t, filepath.Join(one, "dist"), name) })
	t.Run("sums", func(t *testing.T) {
		cmd := exec.Command("sha256sum", "-c", "SHA256SUMS")
		cmd.Dir = filepath.Join(two, "dist")
		if out, err := output(cmd); err != nil {
			t.Error(string(out), err)
		}
	})
	t.Run("a change is seen", func(t *testing.T) {
		source := filepath.Join(two, "tools/hermes/main.go")
		write(t, source, append(readFile(t, source), "\nfunc init() { version += \"!\" }\n"...))
		if _, err := make(two, "-check", "v1.2.3"); err == nil || !strings.Contains(err.Error(), "not everything is committed") {
			t.Error(err)
		}
		git(t, two, "commit", "-q", "-a", "-m", "Change")
		if _, err := make(two, "-check", "v1.2.3"); err == nil || !strings.Contains(err.Error(), "release.json pins") {
			t.Error(err)
		}
		if _, err := make(two, "-check", "v1.2.4"); err == nil || !strings.Contains(err.Error(), "Version:v1.2.3") {
			t.Error(err)
		}
	})
	t.Run("install", func(t *testing.T) { install(t, filepath.Join(one, "dist"), filepath.Join(two, pinFile)) })
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkArchive compares the archive with the manifest and runs its programs.
func checkArchive(t *testing.T, dist, name string) {
	var m manifest
	if err := json.Unmarshal(readFile(t, filepath.Join(dist, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	data := readFile(t, filepath.Join(dist, name+".tar.gz"))
	entry := m.Archives[here.String()]
	if m.Version != "v1.2.3" || entry.file != describe(name+".tar.gz", data) {
		t.Errorf("the manifest has %+v", m)
	}
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(header.Name, name+"/"))
		if !header.ModTime.Equal(modified) || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s says where or when it was built: %+v", header.Name, header)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Base(strings.TrimSuffix(header.Name, ".exe"))
		switch {
		case entry.Programs[program].Path == header.Name:
			if header.Mode != 0o755 || entry.Programs[program] != describe(header.Name, content) {
				t.Errorf("mode %o, manifest %+v", header.Mode, entry.Programs[program])
			}
			path := filepath.Join(t.TempDir(), filepath.Base(header.Name))
			write(t, path, content)
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := output(exec.Command(path, "version")); err != nil || string(out) != "v1.2.3\n" {
				t.Errorf("%s version: %q %v", program, out, err)
			}
			if out, err := output(exec.Command("go", "tool", "buildid", path)); err != nil || len(out) < 20 {
				t.Errorf("build ID: %q %v", out, err)
			}
		case strings.HasSuffix(header.Name, "/THIRD-PARTY-LICENSES"):
			for _, part := range []string{"==== Go, its standard library: LICENSE ====", "==== github.com/neovim/go-client v", "==== mvdan.cc/sh/v3 v", "Permission is hereby granted"} {
				if !bytes.Contains(content, []byte(part)) {
					t.Errorf("the licenses lack %q", part)
				}
			}
		}
	}
	var want []string
	for _, name := range programs {
		want = append(want, filepath.Base(entry.Programs[name].Path))
	}
	slices.Sort(want)
	if got := strings.Join(names, " "); got != "LICENSE NOTICE THIRD-PARTY-LICENSES "+strings.Join(want, " ") {
		t.Errorf("the archive has %s", got)
	}
}

func TestVersionsAreThoseOfReleases(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.2.3", "v1.2", "v1.2.3-4-gabcdef0", "v1.2.3-dirty", "v1.2.3/..", "-check"} {
		err := run(t.Context(), []string{"--", version}, t.TempDir(), nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "want one such as v1.2.3") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if !versions.MatchString("v1.2.3-rc.1") {
		t.Error("a candidate is a release")
	}
}

func TestTheWorkflowsUseWhatIsThere(t *testing.T) {
	t.Parallel()
	call := regexp.MustCompile(`go run \./tools/release( -\w+)? "?[$v]`)
	calls := 0
	for _, path := range []string{".github/workflows/release.yml", "CONTRIBUTING.md", "Makefile"} {
		for _, m := range call.FindAllSubmatch(readFile(t, filepath.Join(repository, path)), -1) {
			calls++
			args := append(strings.Fields(string(m[1])), "none")
			err := run(t.Context(), args, t.TempDir(), nil, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), `version "none"`) {
				t.Errorf("%s: %s: %v", path, m[0], err)
			}
		}
	}
	if calls != 4 {
		t.Errorf("%d calls of this program, want 4", calls)
	}
	needed := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindSubmatch(readFile(t, filepath.Join(repository, "go.mod")))
	ci := readFile(t, filepath.Join(repository, ".github/workflows/ci.yml"))
	if !bytes.Contains(ci, append([]byte("container: golang:"), needed[1]...)) {
		t.Errorf("CI does not run with Go %s", needed[1])
	}
	if _, err := os.Stat(filepath.Join(repository, ".ci/run")); err != nil || !bytes.Contains(ci, []byte("- run: .ci/run\n")) {
		t.Error("CI does not run .ci/run", err)
	}
}

func TestTheChangelogHasWhatUsersSee(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := release{root: root, version: "v0.1.0"}
	git(t, root, "init", "-q")
	commit := func(subject string, files ...string) {
		for _, file := range files {
			write(t, filepath.Join(root, file), []byte(subject))
		}
		git(t, root, "add", "-A")
		git(t, root, "commit", "-q", "--allow-empty", "--date=2026-02-03T00:00:00Z", "-m", subject+"\n\nWhy.")
	}
	add := func() string {
		if err := r.addSection(t.Context()); err != nil {
			t.Fatal(err)
		}
		return string(readFile(t, filepath.Join(root, changelogFile)))
	}
	t.Log(root)
	commit("Begin", "lua/hermes/init.lua")
	first := add()
	if !strings.HasPrefix(first, changelogTitle+"\n## v0.1.0 (") || !strings.HasSuffix(first, ")\n\nThe first release.\n") {
		t.Errorf("the first section: %q", first)
	}
	commit("Release v0.1.0")
	git(t, root, "tag", "v0.1.0")
	commit("Answer sooner", "runtime/rpc/conn.go", "runtime/rpc/conn_test.go")
	commit("Show more", "runtime/history/state.go", "lua/hermes/init.lua")
	commit("Test more", "runtime/rpc/conn_test.go", "runtime/trace/testdata/a b.json", "test/screen.lua")
	commit("Record faster", "tools/hermes/record.go")
	commit("Think longer", "tools/hermes-agent/loop/loop.go")
	commit("Empty")
	r.version = "v0.2.0"
	second := add()
	const want = `

### Neovim

- Show more

### The program ` + "`hermes`" + `

- Record faster

### The agent ` + "`hermes-agent`" + `

- Think longer

### The Go library

- Answer sooner

## v0.1.0 (`
	head, rest, ok := strings.Cut(second, want)
	if !ok || !strings.HasPrefix(head, changelogTitle+"\n## v0.2.0 (") || !strings.HasSuffix(first, rest) {
		t.Errorf("two sections:\n%s", second)
	}
	edited := strings.Replace(second, "- Show more\n", "- Show much more\n", 1)
	write(t, filepath.Join(root, changelogFile), []byte(edited))
	if add() != edited {
		t.Error("an edited section was written again")
	}
	var notes bytes.Buffer
	for _, version := range []string{"v0.1.0", "v0.2.0"} {
		if err := run(t.Context(), []string{"-notes", version}, root, nil, &notes, io.Discard); err != nil {
			t.Error(err)
		}
	}
	if got := notes.String(); !strings.HasPrefix(got, "The first release.\n### Neovim\n\n- Show much more\n") || !strings.HasSuffix(got, "- Answer sooner\n") {
		t.Errorf("notes: %q", got)
	}
	if err := run(t.Context(), []string{"-notes", "v0.3.0"}, root, nil, &notes, io.Discard); err == nil {
		t.Error("there are notes of a release that does not exist")
	}
}
