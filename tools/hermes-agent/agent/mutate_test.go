package agent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutation is a fault in a file of this repository.
type mutation struct {
	file, kind   string
	right, wrong string // the whole file
}

// The kinds of faults.
const (
	flipped  = "a flipped condition"
	offByOne = "an off-by-one error"
	removed  = "a removed check"
)

var (
	flips  = map[token.Token]string{token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&"}
	bounds = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
)

// mutations returns as many faults of each kind, spread evenly over the files. They are
// always the same as long as the files are.
func mutations(t *testing.T, each int, patterns ...string) []mutation {
	t.Helper()
	all := map[string][]mutation{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for kind, list := range mutationsOf(t, file) {
				all[kind] = append(all[kind], list...)
			}
		}
	}
	var picked []mutation
	for _, kind := range []string{flipped, offByOne, removed} {
		list := all[kind]
		if len(list) < each {
			t.Fatalf("%d places for %s", len(list), kind)
		}
		for i := range each {
			picked = append(picked, list[i*len(list)/each])
		}
	}
	return picked
}

func mutationsOf(t *testing.T, file string) map[string][]mutation {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, file, b, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, found := string(b), map[string][]mutation{}
	at := func(p token.Pos) int { return positions.Position(p).Offset }
	change := func(kind string, from, to int, by string) {
		found[kind] = append(found[kind], mutation{filepath.Base(file), kind, text, text[:from] + by + text[to:]})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			from, to := at(n.OpPos), at(n.OpPos)+len(n.Op.String())
			if by, ok := flips[n.Op]; ok {
				change(flipped, from, to, by)
			} else if by, ok := bounds[n.Op]; ok {
				change(offByOne, from, to, by)
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				check, ok := s.(*ast.IfStmt)
				if !ok || check.Else != nil || len(check.Body.List) == 0 {
					continue
				}
				if _, leaves := check.Body.List[len(check.Body.List)-1].(*ast.ReturnStmt); leaves {
					from := strings.LastIndexByte(text[:at(check.Pos())], '\n') + 1
					change(removed, from, at(check.End())+1, "")
				}
			}
		}
		return true
	})
	return found
}
