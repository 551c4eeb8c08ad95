package sinks

import (
	"cmp"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clockExcuses says why tests in some files sleep, have a limit of seconds, or judge by what
// time has passed.
var clockExcuses = map[string]string{
	"it looks again and again until internal/patience ends": "internal/hostile/cycle_test.go plugin/host/neovim_test.go plugin/host/refresh_test.go " +
		"plugin/host/review_kill_test.go internal/review/project/vouch_test.go test/injection/injection_test.go test/injection/menus_test.go " +
		"tools/hermes/shim_linux_test.go",
	"somebody is slow, or acts or dies at one of many moments": "internal/hostile/flood_test.go internal/hostile/http_test.go plugin/host/review_saves_test.go runtime/codex/script_test.go " +
		"runtime/codex/codexagent/consent_test.go " +
		"runtime/launch/agent_test.go internal/review/store/process_unix_test.go runtime/transport/httpstream/dial_test.go " +
		"tools/hermes-agent/batch/batch_test.go",
	"it can only fail to notice what must not happen": "internal/hostile/stall_test.go runtime/codex/session_test.go internal/codex/shared/hub_test.go " +
		"internal/review/project/feed_test.go runtime/terminal/manager_test.go runtime/transport/httpstream/lifecycle_test.go " +
		"runtime/transport/socket/socket_test.go runtime/transport/transport_test.go runtime/transport/websocket/websocket_test.go",
	"at least that long, and longer does no harm": "plugin/host/review_progress_test.go runtime/files/race_test.go runtime/launch/end_linux_test.go " +
		"runtime/transport/websocket/ping_test.go " +
		"internal/review/project/bench_test.go internal/review/project/joined_test.go tools/hermes/end_linux_test.go",
	"in a bubble of the caller": "runtime/rpc/opening_test.go tools/hermes/live/play_test.go tools/hermes/live/run_test.go",
	"a time of day":             "internal/review/tree/scan_test.go tools/hermes-agent/process/registry_test.go",
}

// A test that fails because the machine is slow says nothing about Hermes. Limits are those of
// internal/patience, and where time is the subject testing/synctest stands in for it. A limit of
// milliseconds is for what never comes.
func TestNoTestJudgesByTheClock(t *testing.T) {
	t.Parallel()
	excused := map[string]bool{} // whether a file needs it
	for _, files := range clockExcuses {
		for _, name := range strings.Fields(files) {
			excused[name] = false
		}
	}
	testFiles(t, func(name string, file *ast.File) {
		uses := clockUses(file)
		if _, ok := excused[name]; ok {
			excused[name] = len(uses) > 0
		} else if len(uses) > 0 {
			t.Errorf("%s: %s; see internal/patience", name, strings.Join(uses, ", "))
		}
	})
	for name, needed := range excused {
		if !needed {
			t.Errorf("%s needs no excuse", name)
		}
	}
}

// testFiles reads the files with tests.
func testFiles(t *testing.T, look func(name string, file *ast.File)) {
	t.Helper()
	read := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".cache" {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		read++
		look(strings.TrimPrefix(filepath.ToSlash(path), "../../"), file)
		return nil
	})
	if err != nil || read < 300 {
		t.Fatal(read, err)
	}
}

// clockUses lists what a file does by the clock, unless that is in a bubble. A loop may sleep
// between two looks.
func clockUses(file *ast.File) (uses []string) {
	polls := map[ast.Node]bool{}
	took := map[string]bool{} // names of variables with the time that something took
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := called(n)
			if name == "synctest.Test" || name == "converse" {
				return false
			}
			switch name {
			case "time.After", "time.NewTimer", "context.WithTimeout", "time.Now.Add":
				if inSeconds(n.Args[len(n.Args)-1]) {
					uses = append(uses, "a limit of its own")
				}
			case "time.Sleep":
				if !polls[n] {
					uses = append(uses, "a sleep")
				}
			}
		case *ast.ForStmt:
			if s, ok := n.Post.(*ast.ExprStmt); ok {
				polls[s.X] = true
			}
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if call, ok := right.(*ast.CallExpr); ok && called(call) == "time.Since" && len(n.Lhs) == len(n.Rhs) {
					if x, ok := n.Lhs[i].(*ast.Ident); ok {
						took[x.Name] = true
					}
				}
			}
		case *ast.BinaryExpr:
			if n.Op == gotoken.GTR || n.Op == gotoken.GEQ {
				call, ok := n.X.(*ast.CallExpr)
				x, is := n.X.(*ast.Ident)
				if (ok && called(call) == "time.Since" || is && took[x.Name]) && !patient(n.Y) {
					uses = append(uses, "a comparison with what time has passed")
				}
			}
		}
		return true
	})
	slices.Sort(uses)
	return slices.Compact(uses)
}

// called is the name of a function of a package that a call calls.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		switch x := f.X.(type) {
		case *ast.Ident:
			return x.Name + "." + f.Sel.Name
		case *ast.CallExpr:
			return called(x) + "." + f.Sel.Name
		}
	}
	return ""
}

// inSeconds reports whether a duration is written in seconds or minutes, and not of the past.
func inSeconds(whole ast.Expr) bool {
	x := whole
	if b, ok := x.(*ast.BinaryExpr); ok {
		x = b.X
	}
	_, past := x.(*ast.UnaryExpr)
	return !past && mentions(whole, "time", "Second", "Minute")
}

// patient reports whether a duration is one of internal/patience.
func patient(x ast.Expr) bool { return mentions(x, "patience", "Soon", "Turn") }

func mentions(x ast.Expr, of string, names ...string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			p, _ := s.X.(*ast.Ident)
			found = found || p != nil && p.Name == of && slices.Contains(names, s.Sel.Name)
		}
		return true
	})
	return found
}

func TestWhatIsDoneByTheClockIsFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"time.Sleep(d)": 1, "for ; x; time.Sleep(d) {}": 0, "for x { time.Sleep(d) }": 1, "synctest.Test(t, func() { time.Sleep(d) })": 0,
		"<-time.After(5 * time.Second)": 1, "<-time.After(patience.Soon)": 0, "<-time.After(time.Millisecond)": 0,
		"context.WithTimeout(ctx, time.Minute)": 1, "time.Now().Add(time.Minute)": 1, "time.Now().Add(-time.Minute)": 0, "time.Now().Add(-2 * time.Minute)": 0,
		"if time.Since(a) > b {}": 1, "if took := time.Since(a); took > b {}": 1, "if time.Since(a) < b {}": 0, "if time.Since(a) > patience.Soon {}": 0,
	} {
		file, err := parser.ParseFile(gotoken.NewFileSet(), "x.go", "package x\nfunc f() {\n"+code+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if uses := clockUses(file); len(uses) != want {
			t.Errorf("%s: %q", code, uses)
		}
	}
}
