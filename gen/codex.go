package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
	"github.com/hermes-nvim/hermes/schema/codex"
)

// appServer is the package of the Codex app-server's protocol.
const appServer = "runtime/codex/appserver"

// codexNames are chosen where derived names are the same.
var codexNames = map[string]string{
	"McpServerElicitationRequestParams/openai/form": "MCPServerElicitationRequestParamsOpenaiNamespaced",
}

// codexFiles generates the bindings of the Codex app-server for the module at
// root, from its schema folder.
func codexFiles(root, module string) ([]emit.Output, error) {
	name := filepath.Join("schema", "codex", "schema.json")
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	source, err := codex.Pinned()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != source.Reduced {
		return nil, fmt.Errorf("%s: was changed by hand: run go run ./tools/codexschema", name)
	}
	d, err := schema.Parse(filepath.ToSlash(name), text)
	if err != nil {
		return nil, err
	}
	spec, err := ir.Lower(d, ir.Overlay{})
	if err != nil {
		return nil, err
	}
	reserved, err := declared(filepath.Join(root, filepath.FromSlash(appServer)))
	if err != nil {
		return nil, err
	}
	out, err := golang.Package{
		Edition: "codex", Dir: appServer, Module: module, Shared: shared,
		Header: "from codex/schema.json", OnePage: true,
		Const: "V2", Version: 2, Channel: "stable",
		Reserve: reserved, Names: &golang.Names{Chosen: codexNames}, Spec: spec,
	}.Files()
	if err != nil {
		return nil, err
	}
	lines, err := shapes("codex", spec)
	return append(out, lines...), err
}
