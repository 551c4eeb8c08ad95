package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// replace writes files below root and returns the names of those that changed.
// Everything is first written next to its place. If a step fails, files that were
// already moved are restored.
func replace(root string, files map[string][]byte) (changed []string, err error) {
	before := map[string][]byte{} // nil: did not exist
	for _, name := range slices.Sorted(maps.Keys(files)) {
		have, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(have, files[name]) {
			before[name] = have
			changed = append(changed, name)
		}
	}
	staged := func(name string) string { return filepath.Join(root, name+".new") }
	defer func() {
		for _, name := range changed {
			os.Remove(staged(name)) // already gone if all went well
		}
	}()
	for _, name := range changed {
		if err := os.MkdirAll(filepath.Dir(staged(name)), 0o755); err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
		if err := os.WriteFile(staged(name), files[name], 0o644); err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	for i, name := range changed {
		if err := os.Rename(staged(name), filepath.Join(root, name)); err != nil {
			return nil, errors.Join(err, restore(root, changed[:i], before))
		}
	}
	return changed, nil
}

// restore undoes what replace has moved.
func restore(root string, names []string, before map[string][]byte) error {
	var errs []error
	for _, name := range names {
		path := filepath.Join(root, name)
		if before[name] == nil {
			errs = append(errs, os.Remove(path))
		} else {
			errs = append(errs, os.WriteFile(path, before[name], 0o644))
		}
	}
	return errors.Join(errs...)
}
