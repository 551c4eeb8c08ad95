package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-nvim/hermes/schema"
)

// packageName is the npm package the schemas are published in.
const packageName = "@agentclientprotocol/sdk"

// maxFile bounds a file of the package. The largest schema of 2.4.0 has 0.5 MB.
const maxFile = 32 << 20

// specPackage is the part of a published package that specupdate needs.
type specPackage struct {
	where                          string // for messages
	name, version, license, author string // no name: not a published package
	originals                      map[schema.Edition][]byte
}

var (
	versionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)
	labelPattern   = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]*$`)
)

// openPackage reads the unpacked package in a folder, or the schemas of
// LABEL=DIR, or fetches a version.
func openPackage(ctx context.Context, from string) (*specPackage, error) {
	if label, dir, ok := strings.Cut(from, "="); ok {
		return readFolder(label, dir)
	}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		return readPackage(from, func(name string) ([]byte, error) {
			return os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		})
	}
	if !versionPattern.MatchString(from) {
		return nil, fmt.Errorf("%s: neither a folder nor a version like 2.4.0", from)
	}
	files, err := fetch(ctx, packageName+"@"+from)
	if err != nil {
		return nil, err
	}
	return readPackage(packageName+"@"+from, func(name string) ([]byte, error) {
		if b, ok := files[name]; ok {
			return b, nil
		}
		return nil, os.ErrNotExist
	})
}

// readPackage reads the needed files of the package at where.
func readPackage(where string, read func(name string) ([]byte, error)) (*specPackage, error) {
	b, err := read("package.json")
	if err != nil {
		return nil, fmt.Errorf("%s: package.json: %w: want an unpacked npm package", where, cause(err))
	}
	var meta struct {
		Name, Version, License string
		Author                 json.RawMessage
	}
	if err := json.Unmarshal(b, &meta); err != nil {
		return nil, fmt.Errorf("%s: package.json: %w", where, err)
	}
	if meta.Name != packageName {
		return nil, fmt.Errorf("%s: package.json: name is %q, want %q", where, meta.Name, packageName)
	}
	if !versionPattern.MatchString(meta.Version) {
		return nil, fmt.Errorf("%s: package.json: version is %q, want one like 2.4.0", where, meta.Version)
	}
	if meta.License != "Apache-2.0" {
		return nil, fmt.Errorf("%s: package.json: license is %q, was Apache-2.0: read the new one, then change NOTICE and specupdate", where, meta.License)
	}
	p := &specPackage{where: where, name: meta.Name, version: meta.Version, license: meta.License, author: author(meta.Author), originals: map[schema.Edition][]byte{}}
	for _, e := range schema.Editions {
		b, err := read(origin(e))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w: the package has moved its schemas, adapt schema/edition.go", where, origin(e), cause(err))
		}
		p.originals[e] = b
	}
	return p, nil
}

// readFolder reads schemas that are not in a package.
func readFolder(label, dir string) (*specPackage, error) {
	if !labelPattern.MatchString(label) {
		return nil, fmt.Errorf("%s=%s: the label becomes part of a file name: want letters, digits, dots and hyphens", label, dir)
	}
	p := &specPackage{where: dir, version: label, originals: map[schema.Edition][]byte{}}
	for _, e := range schema.Editions {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.File())))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w: want a folder with the schemas of all editions", dir, e.File(), cause(err))
		}
		p.originals[e] = b
	}
	return p, nil
}

// origin is where the package keeps the schema of an edition.
func origin(e schema.Edition) string { return "schema/" + e.File() }

// author reads both forms that npm allows, a text and an object.
func author(b json.RawMessage) string {
	var text string
	if json.Unmarshal(b, &text) == nil {
		return text
	}
	var object struct{ Name string }
	if json.Unmarshal(b, &object) == nil {
		return object.Name
	}
	return ""
}

// cause drops the path of a file error, which is already in the message.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// fetch downloads a package and returns its files. It uses the npm client, and with
// it the registry and proxy of the user's settings.
func fetch(ctx context.Context, spec string) (map[string][]byte, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, fmt.Errorf("fetch %s: npm is not installed: install Node.js, or give specupdate the folder of an unpacked package", spec)
	}
	dir, err := os.MkdirTemp("", "specupdate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", "--ignore-scripts", "--fetch-retries=1", "--pack-destination", dir, spec)
	cmd.Dir = dir // a package.json of the caller must not matter
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if _, err := cmd.Output(); err != nil {
		return nil, fmt.Errorf("fetch %s: npm pack: %w; is this machine online, and does the version exist (npm view %s versions)? specupdate also takes the folder of an unpacked package; npm says: %s",
			spec, err, packageName, strings.TrimSpace(stderr.String()))
	}
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return nil, fmt.Errorf("fetch %s: npm pack left %d archives, want 1", spec, len(packed))
	}
	f, err := os.Open(packed[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	files, err := unpack(f)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", spec, err)
	}
	return files, nil
}

// unpack reads the JSON files of an npm archive, named below its folder.
func unpack(r io.Reader) (map[string][]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	files := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(name, ".json") {
			continue
		}
		if h.Size > maxFile {
			return nil, fmt.Errorf("archive: %s: %d bytes, more than %d", name, h.Size, maxFile)
		}
		b, err := io.ReadAll(io.LimitReader(t, maxFile))
		if err != nil {
			return nil, fmt.Errorf("archive: %s: %w", name, err)
		}
		files[name] = b
	}
}
