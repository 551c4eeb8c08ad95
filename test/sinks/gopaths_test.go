package sinks

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
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

// goElsewhere are the uses on names that are not below the folder of a session or of a review, or
// that are the folder itself. What only looks, and writes nothing, is excused where git does the same.
var goElsewhere = map[string]excuse{
	"plugin/setup/agents.go":              {"looks for the program of an agent in PATH", "exec.LookPath"},
	"plugin/setup/carriers.go":            {"looks into the script that starts an agent, which the user has named", "exec.LookPath"},
	"plugin/reviews/reviews.go":           {"the folder itself", "filepath.EvalSymlinks os.Stat"},
	"plugin/reviews/operation.go":         {"the folder itself, and the store of its review", "filepath.EvalSymlinks os.Stat"},
	"internal/review/project/disk.go":     {"opens the folder, or that of a file elsewhere, in which names are then followed", "os.OpenRoot"},
	"internal/review/project/feed.go":     {"the journals in the state folder", "filepath.Glob"},
	"internal/review/project/folders.go":  {"opens the folder", "os.OpenRoot"},
	"internal/review/project/names.go":    {"what somebody has named, to compare it", "filepath.EvalSymlinks"},
	"internal/review/project/project.go":  {"the folder itself, and the state folder", "filepath.EvalSymlinks os.Stat"},
	"internal/review/project/steering.go": {"whether something has changed that git obeys, wherever its repository is", "os.Lstat os.OpenFile"},
	"internal/review/project/turn.go":     {"when a file has changed", "os.Lstat"},
	"internal/review/project/unheard.go":  {"the journals in the state folder", "filepath.Glob os.Stat"},
	"internal/review/tree/ignore.go":      {"the patterns and the index of git", "os.OpenFile"},
	"internal/review/tree/matcher.go":     {"whether a folder has patterns, or a repository of its own", "os.Lstat"},
	"internal/review/tree/scan.go":        {"opens the folder", "filepath.EvalSymlinks os.OpenRoot"},
	"internal/review/tree/tracked.go":     {"whether the index of git has changed", "os.Stat"},
	"internal/review/watch/folders.go":    {"where folders are, to watch them", "filepath.WalkDir os.Stat"},
	"runtime/review/feed/server.go":       {"its own socket's folder", "os.Remove"},
}

// The files of sessions are opened by runtime/files, and those under review by internal/review,
// below an os.Root. internal/review/store is about the state folder, which is the user's.
func TestNoFileOfASessionOrReviewIsTouchedByName(t *testing.T) {
	t.Parallel()
	used := map[string][]string{}
	for _, top := range []string{"plugin", "runtime/review", "internal/review"} {
		err := filepath.WalkDir("../../"+top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" || strings.Contains(path, "/store/") {
				return err
			}
			file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
			used[strings.TrimPrefix(filepath.ToSlash(path), "../../")] = goFileUses(file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(used) < 120 {
		t.Fatal("only", len(used), "files")
	}
	for name, uses := range used {
		for _, use := range uses {
			if !slices.Contains(strings.Fields(goElsewhere[name].uses), use) {
				t.Errorf("%s uses %s: an agent may control the name; runtime/files is for the files of sessions", name, use)
			}
		}
	}
	for name, e := range goElsewhere {
		for _, use := range strings.Fields(e.uses) {
			if !slices.Contains(used[name], use) {
				t.Errorf("%s does not use %s, which is excused (%s)", name, use, e.why)
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
