package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Source says where the schema comes from.
type Source struct {
	Package  string `json:"package"` // npm package
	Version  string `json:"version"`
	License  string `json:"license"` // SPDX identifier
	Author   string `json:"author"`
	Origin   string `json:"origin"`   // the command that prints the original
	Original string `json:"original"` // sha256 of the bundle
	Reduced  string `json:"reduced"`  // sha256 of schema.json
}

// Pinned is the record of the schema in this folder.
func Pinned() (Source, error) {
	var s Source
	if err := json.Unmarshal(Sources, &s); err != nil {
		return s, fmt.Errorf("schema/codex/SOURCES.json: %w", err)
	}
	return s, nil
}

// Bundle asks a codex binary for the schema of its app-server.
func Bundle(binary string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "codex-schema-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command(binary, "app-server", "generate-json-schema", "--out", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s app-server generate-json-schema: %w: %s", binary, err, out)
	}
	return os.ReadFile(filepath.Join(dir, "codex_app_server_protocol.schemas.json"))
}
