package sinks

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Neovim runs each Vim and Lua file below these folders by itself, however deep it is: at the start,
// or for a file of some kind. A script of a test that stood there would run for every user.
func TestNeovimRunsOneFileByItself(t *testing.T) {
	root := os.DirFS(filepath.Join("..", ".."))
	var found []string
	for _, folder := range []string{"plugin", "after", "autoload", "colors", "compiler", "ftdetect", "ftplugin", "indent", "keymap", "lsp", "pack", "syntax"} {
		err := fs.WalkDir(root, folder, func(path string, _ fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); ext == ".lua" || ext == ".vim" {
				found = append(found, path)
			}
			if os.IsNotExist(err) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"plugin/hermes.lua"}; !slices.Equal(found, want) {
		t.Errorf("Neovim runs %v, not only %v", found, want)
	}
}
