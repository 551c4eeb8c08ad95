package review_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Sources report to the record. It reads what they have written down, but does not
// contain them, so a source can change without it.
func TestTheRecordImportsNoSource(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	const runtime = "github.com/hermes-nvim/hermes/runtime/"
	if !slices.Contains(deps, runtime+"shim/journal") {
		t.Fatalf("the journal of the shim is not among the imports: %q", deps)
	}
	for _, source := range []string{"shim", "launch", "confine", "claudehooks", "codex", "rpc", "services", "terminal"} {
		if slices.Contains(deps, runtime+source) {
			t.Errorf("the record imports %s", source)
		}
	}
}
