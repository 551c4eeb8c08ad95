package acp

import (
	"os/exec"
	"strings"
	"testing"
)

// These packages import only the standard library.
func TestOnlyTheStandardLibraryIsImported(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", ".", "./unstable", "./v2", "./v2/unstable").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	module := ""
	for line := range strings.Lines(string(out)) {
		pkg, mod, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module == "" {
			module = mod
		}
		if mod != module {
			t.Errorf("%s of module %s is imported", pkg, mod)
		}
		if pkg == module+"/internal/jx" {
			continue
		}
		if rest, ok := strings.CutPrefix(pkg, module+"/acp"); !ok || strings.Contains(rest, "acptest") || strings.Contains(rest, "validate") {
			t.Errorf("%s is imported", pkg)
		}
	}
	if module == "" {
		t.Fatalf("nothing listed: %s", out)
	}
}
