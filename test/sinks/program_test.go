package sinks

import (
	"go/ast"
	gotoken "go/token"
	"strings"
	"testing"
)

// A program that a test writes cannot be run while another process of the test, which is just
// starting, has it open for writing.
func TestTestsWriteProgramsSafely(t *testing.T) {
	t.Parallel()
	testFiles(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || called(call) != "os.WriteFile" {
				return true
			}
			mode, ok := call.Args[2].(*ast.BasicLit)
			if ok && mode.Kind == gotoken.INT && strings.HasPrefix(mode.Value, "0o7") {
				t.Errorf("%s writes a program by os.WriteFile; see gobuild.Write", name)
			}
			return true
		})
	})
}
