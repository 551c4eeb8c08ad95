package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// copyTree copies what a folder has into another one. Links stay links. Anything but
// files, folders and links, such as a socket, is left out.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch entry.Type() {
		case fs.ModeDir:
			return os.MkdirAll(target, 0o755)
		case fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case 0:
			return copyFile(target, path)
		}
		return nil
	})
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm()|0o200)
}

// patchBytes bounds a file in a patch, and all of a patch.
const patchBytes = 1 << 20

// patch is how one folder differs from another, as git writes it. An old folder without a
// name is empty. The folders of version control do not count.
func patch(old, now string) (string, error) {
	before, err := tree(old)
	if err != nil {
		return "", err
	}
	after, err := tree(now)
	if err != nil {
		return "", err
	}
	names := slices.Concat(before, after)
	slices.Sort(names)
	names = slices.Compact(names)
	var all strings.Builder
	for _, name := range names {
		was, had, err := content(old, name)
		if err != nil {
			return "", err
		}
		is, has, err := content(now, name)
		if err != nil {
			return "", err
		}
		if had == has && bytes.Equal(was, is) {
			continue
		}
		a, b := "a/"+name, "b/"+name
		if !had {
			a = "/dev/null"
		}
		if !has {
			b = "/dev/null"
		}
		if isText(was) && isText(is) {
			all.WriteString(udiff.Unified(a, b, string(was), string(is)))
		} else {
			fmt.Fprintf(&all, "Binary files %s and %s differ\n", a, b)
		}
		if all.Len() > patchBytes {
			return all.String()[:patchBytes] + "\n[the rest of the patch was left out]\n", nil
		}
	}
	return all.String(), nil
}

func isText(b []byte) bool {
	return len(b) <= patchBytes && utf8.Valid(b) && !bytes.ContainsRune(b, 0)
}

// tree lists the files in a folder, with slashes.
func tree(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	var list []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".hg", ".jj", ".svn"}, entry.Name()):
			return filepath.SkipDir
		case entry.Type().IsRegular():
			name, err := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	return list, err
}

// content reads a file that may be missing.
func content(dir, name string) (b []byte, exists bool, err error) {
	if dir == "" {
		return nil, false, nil
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, false, nil
	}
	if err == nil {
		b, err = os.ReadFile(path)
	}
	return b, err == nil, err
}
