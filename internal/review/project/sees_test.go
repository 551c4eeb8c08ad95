package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sees returns everything that is in the folder.
func (r *rig) sees() map[string]string {
	r.t.Helper()
	all := make(map[string]string)
	r.must(filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		r.must(err)
		info, err := os.Lstat(path)
		r.must(err)
		what := info.Mode().String()
		if info.Mode().IsRegular() && info.Size() < maxText {
			text, err := os.ReadFile(path)
			r.must(err)
			what += " " + string(text)
		} else if !info.IsDir() {
			what += fmt.Sprint(" ", info.Size())
		}
		all[strings.TrimPrefix(path, r.root)] = what
		return nil
	}))
	return all
}
