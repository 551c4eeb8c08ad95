package sinks

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goFileFunctions are those of Go that take the name of a file. Methods of os.Root
// are not among them: no name leads out of it.
var goFileFunctions = map[string]string{
	"os": "Chdir Chmod Chown Chtimes CopyFS Create CreateTemp DirFS Lchown Link Lstat Mkdir MkdirAll MkdirTemp Open OpenFile OpenInRoot OpenRoot " +
		"ReadDir ReadFile Readlink Remove RemoveAll Rename Stat StartProcess Symlink Truncate WriteFile",
	"path/filepath": "EvalSymlinks Glob Walk WalkDir",
	"os/exec":       "Command CommandContext LookPath",
	"syscall": "Access Chdir Chmod Chown Exec ForkExec Lchown Link Lstat Mkdir Mknod Open Openat Readlink Rename Rmdir StartProcess Stat Statfs Symlink " +
		"Truncate Unlink Utimes",
	"golang.org/x/sys/unix": "Access Chdir Chmod Chown Exec Fchmodat Fchownat Fstatat InotifyAddWatch Lchown Link Linkat Lstat Mkdir Mkdirat Mkfifo Mknod Open Openat Openat2 " +
		"Readlink Readlinkat Rename Renameat Renameat2 Rmdir Stat Statfs Statx Symlink Symlinkat Truncate Unlink Unlinkat Utimes UtimesNanoAt",
}

// goElsewhere are the uses in the host on names that are not below a session's
// folder, or that are its folder.
var goElsewhere = map[string]excuse{
	"host/agents.go":       {"looks for the program of an agent in PATH", "exec.LookPath"},
	"host/carriers.go":     {"looks into the script that starts an agent, which the user has named", "exec.LookPath os.OpenFile"},
	"reviews/reviews.go":   {"the folder itself", "filepath.EvalSymlinks os.Stat"},
	"reviews/operation.go": {"the folder itself, and the store of its review", "filepath.EvalSymlinks os.Stat"},
}

// The files of sessions are opened by runtime/files, and those under review by
// runtime/review, below an os.Root.
func TestTheHostTouchesNoFilesOfSessionsByName(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../../plugin/*/*.go")
	if err != nil || len(sources) < 50 {
		t.Fatal("no files", err)
	}
	used := map[string][]string{}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		used[filepath.Base(filepath.Dir(source))+"/"+filepath.Base(source)] = goFileUses(file)
	}
	for name, uses := range used {
		for _, use := range uses {
			if !slices.Contains(strings.Fields(goElsewhere[name].uses), use) {
				t.Errorf("plugin/%s uses %s: an agent may control the name; runtime/files is for the files of sessions", name, use)
			}
		}
	}
	for name, e := range goElsewhere {
		for _, use := range strings.Fields(e.uses) {
			if !slices.Contains(used[name], use) {
				t.Errorf("plugin/%s does not use %s, which is excused (%s)", name, use, e.why)
			}
		}
	}
}

// goFileUses lists what a file of Go uses of goFileFunctions.
func goFileUses(file *ast.File) (uses []string) {
	names := map[string]string{} // of imports
	for _, spec := range file.Imports {
		at := strings.Trim(spec.Path.Value, `"`)
		name := at[strings.LastIndexByte(at, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if list := goFileFunctions[at]; list != "" {
			names[name] = list
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(strings.Fields(names[x.Name]), s.Sel.Name) {
				uses = append(uses, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return uses
}
