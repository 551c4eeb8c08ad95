package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// target is a system that a release has an archive for.
type target struct{ os, arch string }

var targets = []target{
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"linux", "amd64"}, {"linux", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (t target) String() string { return t.os + "-" + t.arch }

// manifest is what lua/hermes/core/install.lua reads.
type manifest struct {
	Version  string             `json:"version"`
	Archives map[string]archive `json:"archives"` // by target
}

type archive struct {
	file
	Programs map[string]file `json:"programs"` // in the archive, by name
}

// programs is what a release consists of: the host, and the agent in the box.
var programs = []string{"hermes", "hermes-agent"}

type file struct {
	Path   string `json:"path"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

func describe(path string, data []byte) file {
	return file{path, len(data), sum(data)}
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// buildAll writes all archives, manifest.json and SHA256SUMS, and returns the
// SHA-256 of the manifest.
func (r release) buildAll(ctx context.Context, dir string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	m := manifest{Version: r.version, Archives: map[string]archive{}}
	var sums strings.Builder
	for _, t := range r.targets {
		a, data, err := r.build(ctx, t)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t, err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, a.Path), data, 0o644); err != nil {
			return "", err
		}
		m.Archives[t.String()] = a
		fmt.Fprintf(&sums, "%s  %s\n", a.SHA256, a.Path)
		fmt.Fprintf(r.out, "%s: %.1f MB\n", a.Path, float64(a.Size)/1e6)
	}
	path := filepath.Join(dir, "manifest.json")
	if err := writeJSON(path, m); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&sums, "%s  manifest.json\n", sum(text))
	return sum(text), os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// build returns the archive for one target and its bytes.
func (r release) build(ctx context.Context, t target) (archive, []byte, error) {
	others, err := r.licenses(ctx, t)
	if err != nil {
		return archive{}, nil, err
	}
	folder := fmt.Sprintf("hermes-%s-%s", r.version, t)
	a := archive{Programs: map[string]file{}}
	members := []member{{"THIRD-PARTY-LICENSES", 0o644, others}}
	for _, name := range programs {
		program, err := r.compile(ctx, t, name)
		if err != nil {
			return archive{}, nil, err
		}
		inArchive := name
		if t.os == "windows" {
			inArchive += ".exe"
		}
		members = append(members, member{inArchive, 0o755, program})
		a.Programs[name] = describe(folder+"/"+inArchive, program)
	}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return archive{}, nil, err
		}
		members = append(members, member{name, 0o644, text})
	}
	data, err := pack(folder, members)
	if err != nil {
		return archive{}, nil, err
	}
	a.file = describe(folder+".tar.gz", data)
	return a, data, nil
}

// compile links a program without anything that differs between machines:
// paths, the C compiler, the state of the repository, settings of Go. The build
// ID stays: it is the same everywhere, and without it programs for macOS lack
// the UUID that newer systems demand.
func (r release) compile(ctx context.Context, t target, name string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hermes-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name)
	_, err = output(r.goCommand(ctx, t, "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X main.version="+r.version, "-o", path, "./tools/"+name))
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func (r release) goCommand(ctx context.Context, t target, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(),
		"GOTOOLCHAIN="+runtime.Version(), "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	return cmd
}

// licenses returns the licenses of Go and of every module that the programs
// link.
func (r release) licenses(ctx context.Context, t target) ([]byte, error) {
	root, err := output(r.goCommand(ctx, t, "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	args := []string{"list", "-deps", "-f", format}
	for _, name := range programs {
		args = append(args, "./tools/"+name)
	}
	list, err := output(r.goCommand(ctx, t, args...))
	if err != nil {
		return nil, err
	}
	modules := strings.Split(strings.TrimSpace(string(list)), "\n")
	slices.Sort(modules)
	modules = append([]string{"Go, its standard library\t" + strings.TrimSpace(string(root))}, slices.Compact(modules)...)
	var text bytes.Buffer
	for _, module := range modules {
		name, dir, _ := strings.Cut(module, "\t")
		files, err := filepath.Glob(filepath.Join(dir, "L[Ii][Cc][Ee][Nn][Ss][Ee]*"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no license in %s", name, dir)
		}
		for _, file := range files {
			license, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "==== %s: %s ====\n\n%s\n\n", name, filepath.Base(file), bytes.TrimSpace(license))
		}
	}
	return text.Bytes(), nil
}

// member is a file of an archive.
type member struct {
	name string
	mode int64
	data []byte
}

// Every file has this time: the time of the build differs, and the time of the
// commit is not known before the sums are committed.
var modified = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// pack puts members into one folder of a compressed tar archive.
func pack(folder string, members []member) ([]byte, error) {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	var data bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&data, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{Name: folder + "/" + m.name, Mode: m.mode, Size: int64(len(m.data)), ModTime: modified, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}
