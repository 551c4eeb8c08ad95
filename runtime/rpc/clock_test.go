package rpc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// wallClock says where the time of day is meant.
var wallClock = map[string]string{
	"../../internal/atomicfile/sys_other.go":     "the age of a file",
	"../../runtime/codex/codexagent/sessions.go": "when a session was last used",
	"../../internal/codex/shared/join.go":        "the age of a file",
	"../../runtime/files/write.go":               "the time of a file",
	"../../internal/gitdir/objects.go":           "the time of a folder",
	"../../internal/lint/capture/capture.go":     "the times in a capture",
	"../../internal/lint/capture/document.go":    "the times in a capture",
	"../../runtime/review/feed/decode.go":        "when a change was made",
	"../../runtime/review/feed/encode.go":        "when a change was made",
	"../../internal/review/project/disk.go":      "the time of a file",
	"../../internal/review/project/settle.go":    "the age of a file; a wait for it is bounded",
	"../../internal/review/project/turn.go":      "the age of a file",
	"../../internal/review/store/projects.go":    "the age of a file",
	"../../internal/review/tree/content.go":      "the time of a file",
	"../../internal/review/tree/index.go":        "the time of a file",
	"../../internal/review/tree/matcher.go":      "the time of a file",
	"../../internal/review/tree/saved.go":        "the time of a file",
	"../../internal/shim/child_linux.go":         "the time of a file",
	"../../internal/shim/loss_linux.go":          "when a file was made, and what a log says",
	"../../tools/hermes/logfile.go":              "the age of a file",
	"../../tools/hermes/policy/parse.go":         "the days of a configuration",
}

// F11 of the conformance list. A jump of the clock moves no deadline: what
// waits and what measures goes by readings of the monotonic clock, which times
// lose when they are turned into numbers, rounded, moved to a time zone, or
// come from elsewhere. So no time is, but to be printed.
func TestNoWaitGoesByTheTimeOfDay(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	measured := 0
	for _, room := range []string{"../../runtime", "../../internal", "../../plugin", "../../tools/hermes"} {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			found, n := wallClockCalls(f)
			measured += n
			for _, call := range found {
				if wallClock[filepath.ToSlash(path)] != "" {
					used[filepath.ToSlash(path)] = true
					continue
				}
				t.Errorf("%s: %s loses the monotonic clock", files.Position(call.Pos()), call.Sel.Name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if measured < 30 {
		t.Errorf("%d calls that wait or measure: the check looks in the wrong place", measured)
	}
	for path := range wallClock {
		if !used[path] {
			t.Errorf("%s needs no exception", path)
		}
	}
}

// wallClockCalls finds what makes a time one of the wall clock, unless it is
// printed at once, and counts the calls that wait or measure.
func wallClockCalls(f *ast.File) (found []*ast.SelectorExpr, measured int) {
	printed := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := sel.X.(*ast.Ident)
		pkg := of != nil && of.Name == "time"
		switch sel.Sel.Name {
		case "Format", "AppendFormat":
			printed[sel.X] = true
		case "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "WithTimeout", "WithDeadline":
			measured++
		case "Unix", "UnixMilli", "UnixMicro", "UnixNano", "AddDate", "Date", "ModTime", "Now", "UTC", "Local", "In", "Round", "Truncate":
			if pkg && sel.Sel.Name == "Now" || printed[call] && !pkg {
				break
			}
			switch sel.Sel.Name {
			case "Now", "In", "Local":
				return true // not of time.Time
			case "Round", "Truncate":
				if !isTime(sel.X) {
					return true // a duration, or a file
				}
			}
			found = append(found, sel)
		}
		return true
	})
	return found, measured
}

// isTime reports whether an expression is the time now.
func isTime(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Now"
}

func TestTheClockCheckFindsWhatItLooksFor(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		`time.Now().UnixNano()`: 1, `time.Now().Round(0)`: 1, `t.UTC().Sub(u)`: 1, `time.Unix(1, 0)`: 1, `time.Since(info.ModTime())`: 1,
		`time.Date(2026, 1, 1, 0, 0, 0, 0, nil)`: 1, `t.UTC().Format("x")`: 0, `time.Since(t).Round(d)`: 0, `time.Now().Add(d)`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := wallClockCalls(f); len(found) != want {
			t.Errorf("%s: %d found, want %d", code, len(found), want)
		}
	}
}
