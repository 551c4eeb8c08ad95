package watch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// watched is a Watcher in a folder of its own, and what it noticed.
type watched struct {
	*Watcher
	t    *testing.T
	root string

	mu      sync.Mutex
	notices []Notice
	more    chan struct{}
}

func start(t *testing.T, opts Options) *watched {
	t.Helper()
	return startIn(t, true, opts)
}

// startIn starts a Watcher that knows the root of its project, or does not.
func startIn(t *testing.T, rooted bool, opts Options) *watched {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if rooted {
		opts.Root = root
	}
	w := &watched{t: t, root: root, more: make(chan struct{}, 1)}
	w.Watcher, err = New(opts, func(n Notice) {
		w.mu.Lock()
		w.notices = append(w.notices, n)
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *watched) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// until waits for a notice that fits, and returns all notices since the last call.
func (w *watched) until(what string, fits func(Notice) bool) []Notice {
	w.t.Helper()
	late := time.After(patience.Soon)
	for {
		w.mu.Lock()
		all := w.notices
		if slices.ContainsFunc(all, fits) {
			w.notices = nil
			w.mu.Unlock()
			return all
		}
		w.mu.Unlock()
		select {
		case <-w.more:
		case <-late:
			w.t.Fatalf("%s was not noticed: %+v", what, all)
		}
	}
}

// sees waits until a path is noticed.
func (w *watched) sees(name string) []Notice {
	w.t.Helper()
	return w.until(name, func(n Notice) bool { return slices.Contains(n.Paths, w.path(name)) })
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (w *watched) write(name, text string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o700), os.WriteFile(w.path(name), []byte(text), 0o600))
}

func (w *watched) shell(script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// Each script changes the file d/e/f. Then it is there and still watched.
func TestEveryWayToChangeAFileIsNoticedAndTheNextOneToo(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"written in place":                   `echo new > d/e/f`,
		"appended":                           `echo new >> d/e/f`,
		"emptied":                            `: > d/e/f`,
		"renamed over":                       `echo new > d/e/g; mv d/e/g d/e/f`,
		"renamed over from elsewhere":        `echo new > h; mv h d/e/f`,
		"with a backup, as Vim does":         `mv d/e/f d/e/f~; echo new > d/e/f; rm d/e/f~`,
		"sed":                                `sed -i.bak s/old/new/ d/e/f`,
		"mode":                               `chmod 700 d/e/f`,
		"a link":                             `ln -sf /nowhere d/e/f; rm d/e/f; echo > d/e/f`,
		"removed and back":                   `rm d/e/f; echo new > d/e/f`,
		"its folder removed and back":        `rm -r d/e; mkdir d/e; echo new > d/e/f`,
		"its folders removed and back":       `rm -r d; mkdir -p d/e; echo new > d/e/f`,
		"its folder renamed and back":        `mv d/e d/x; mv d/x d/e`,
		"the folder above renamed and back":  `mv d x; mv x d`,
		"the folder above another":           `mkdir -p x/e; echo new > x/e/f; mv d old; mv x d`,
		"a folder in its place for a moment": `rm d/e/f; mkdir d/e/f; rmdir d/e/f; echo new > d/e/f`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, Options{})
			w.write("d/e/f", "old\n")
			w.Add(w.path("d/e/f"))
			w.shell(script)
			w.sees("d/e/f")
			for i := range 2 { // the first may be in one notice with the above
				w.write("d/e/f", fmt.Sprint(i))
				w.sees("d/e/f")
			}
		})
	}
}

// A folder may appear while the watcher looks which ones are there.
func TestFoldersThatAppearAtAnyMomentAreWatched(t *testing.T) {
	t.Parallel()
	for _, rooted := range []bool{true, false} {
		t.Run(fmt.Sprint("root ", rooted), func(t *testing.T) {
			t.Parallel()
			w := startIn(t, rooted, Options{Settle: time.Millisecond})
			w.Add(w.path("d/e/f"), w.path("mark"))
			for i := range 400 {
				must(t, os.RemoveAll(w.path("d")), os.Mkdir(w.path("d"), 0o700))
				for range i % 200 * 100 { // so that the next one comes at another moment
					runtime.Gosched()
				}
				must(t, os.Mkdir(w.path("d/e"), 0o700))
				w.write("mark", fmt.Sprint(i))
				w.sees("mark") // and so all that was before
				w.write("d/e/f", fmt.Sprint(i))
				w.sees("d/e/f")
			}
		})
	}
}

func TestAFileThatIsMissingIsNoticedWhenItAppears(t *testing.T) {
	t.Parallel()
	w := start(t, Options{})
	w.Add(w.path("a"), w.path("d/e/f"), w.path("d/g"))
	for _, name := range []string{"a", "d/e/f", "d/g", "d/e/f"} {
		w.write(name, "new")
		w.sees(name)
	}
	must(t, os.RemoveAll(w.path("d")))
	w.sees("d/e/f")
	w.write("d/e/f", "newer")
	w.sees("d/e/f")
}

func TestOnlyFilesThatAreKnownAreTold(t *testing.T) {
	t.Parallel()
	w := start(t, Options{})
	w.write("d/known", "")
	w.write("d/forgotten", "")
	w.write("d/other", "")
	w.write("e/forgotten", "")
	w.Add(w.path("d/known"), w.path("d/forgotten"), w.path("e/forgotten"))
	w.Remove(w.path("d/forgotten"), w.path("e/forgotten"), w.path("never"))
	for _, name := range []string{"d/other", "d/forgotten", "e/forgotten", "d/known"} {
		w.write(name, "new")
	}
	for _, n := range w.sees("d/known") {
		if len(n.Paths) != 1 || n.Rescan || n.Err != nil {
			t.Errorf("%+v", n)
		}
	}
	if w.mu.Lock(); w.watchedFolder("e") {
		t.Error("a folder without files is still watched")
	}
	w.mu.Unlock()
}

func (w *watched) watchedFolder(name string) bool {
	w.Watcher.mu.Lock()
	defer w.Watcher.mu.Unlock()
	return w.watched[w.path(name)]
}

func TestFoldersAboveTheProjectAreNotWatched(t *testing.T) {
	t.Parallel()
	w := start(t, Options{})
	w.Add(w.path("d/f"), filepath.Join(filepath.Dir(w.root), "outside", "f"))
	w.Watcher.mu.Lock()
	defer w.Watcher.mu.Unlock()
	for f := range w.watched {
		if f != w.root && f != filepath.Dir(w.root) {
			t.Errorf("%s is watched", f)
		}
	}
}

func TestATreeIsWatchedAsItGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Skip: func(folder string) bool { return filepath.Base(folder) == ".git" }})
	w.write("a/b/old", "")
	w.write(".git/x/index", "")
	w.Roots(w.root)
	w.write(".git/x/index", "new")
	w.write("a/b/new", "")
	if told := w.sees("a/b/new"); strings.Contains(fmt.Sprint(told), ".git") {
		t.Errorf("%+v", told)
	}
	// Folders that come at once are reported as a whole, and later files by name.
	w.shell(`mkdir -p c/d/e; echo > c/d/e/f`)
	w.sees("c")
	w.write("c/d/e/g", "")
	w.sees("c/d/e/g")
	w.shell(`mv c h`)
	w.sees("h")
	w.write("h/d/e/g", "new")
	w.sees("h/d/e/g")
	w.shell(`rm -r h`)
	w.sees("h")
	w.Roots()
	w.Add(w.path("mark"))
	w.write("a/b/new", "unseen")
	w.write("mark", "")
	if told := w.sees("mark"); strings.Contains(fmt.Sprint(told), "a/b/new") {
		t.Errorf("%+v", told)
	}
}

func TestManyChangesAreFewNotices(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Settle: 100 * time.Millisecond, Delay: time.Hour})
	w.Add(w.path("a"), w.path("last"))
	for i := range 2000 {
		w.write("a", fmt.Sprint(i))
	}
	w.write("last", "")
	if told := w.sees("last"); len(told) > 200 { // one, unless the machine pauses
		t.Errorf("%d notices", len(told))
	}
}

func TestANoticeDoesNotWaitForQuiet(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Settle: time.Hour, Delay: 50 * time.Millisecond})
	w.Add(w.path("a"))
	w.write("a", "")
	w.sees("a")
}

func TestChangesWhileNotifyRunsAreToldAfterIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	begun, goOn, rest := make(chan struct{}, 10), make(chan struct{}), make(chan Notice, 100)
	w, err := New(Options{Root: root}, func(n Notice) {
		begun <- struct{}{}
		<-goOn
		rest <- n
	})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	var want []string
	for i := range 50 {
		want = append(want, filepath.Join(root, fmt.Sprintf("%02d", i)))
	}
	w.Add(want...)
	must(t, os.WriteFile(want[0], nil, 0o600))
	<-begun
	for _, f := range want[1:] {
		must(t, os.WriteFile(f, nil, 0o600))
	}
	close(goOn)
	seen := map[string]bool{}
	for late := time.After(patience.Soon); len(seen) < len(want); {
		select {
		case n := <-rest:
			for _, p := range n.Paths {
				seen[p] = true
			}
		case <-late:
			t.Fatalf("%d of %d", len(seen), len(want))
		}
	}
}

func TestLostEventsAreARescanAndTheWatchGoesOn(t *testing.T) {
	t.Parallel()
	w := start(t, Options{})
	w.Roots(w.root)
	w.Add(w.path("known/f"))
	w.Watcher.mu.Lock() // events are not handled
	for i := range maxQueue {
		must(t, os.WriteFile(w.path(fmt.Sprint(i)), nil, 0o600), os.Remove(w.path(fmt.Sprint(i))))
	}
	w.shell(`mkdir -p deep/er known; echo > known/f`)
	late := time.Now().Add(patience.Soon)
	for full := false; !full; time.Sleep(time.Millisecond) {
		w.queueing.Lock()
		full = len(w.queue) == maxQueue
		w.queueing.Unlock()
		if time.Now().After(late) {
			t.Fatal("the queue does not fill")
		}
	}
	w.Watcher.mu.Unlock()
	for _, n := range w.until("the loss", func(n Notice) bool { return n.Rescan }) {
		if n.Rescan && len(n.Paths) > 0 || n.Err != nil {
			t.Errorf("%+v", n)
		}
	}
	w.write("deep/er/f", "new")
	w.sees("deep/er/f")
	w.write("known/f", "new")
	w.sees("known/f")
}

func TestTooManyPathsAreARescan(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Settle: time.Hour, Delay: time.Second})
	w.Roots(w.root)
	w.Watcher.mu.Lock()
	for i := range maxPaths + 1 {
		w.changed(w.path(fmt.Sprint(i)))
	}
	w.Watcher.mu.Unlock()
	w.write("a", "")
	w.until("a rescan", func(n Notice) bool { return n.Rescan && n.Paths == nil })
}

func TestTooManyFoldersAreToldOnceAndThoseOfKnownFilesComeFirst(t *testing.T) {
	t.Parallel()
	w := start(t, Options{Folders: 5})
	for i := range 20 {
		w.write(fmt.Sprintf("tree/%d/f", i), "")
	}
	w.Roots(w.root)
	w.Add(w.path("tree/19/f"))
	told := w.until("the limit", func(n Notice) bool { return errors.Is(n.Err, ErrTooMany) })
	w.write("tree/19/f", "new")
	told = append(told, w.sees("tree/19/f")...)
	count := 0
	for _, n := range told {
		if n.Err != nil {
			count++
		}
	}
	w.Watcher.mu.Lock()
	defer w.Watcher.mu.Unlock()
	if count != 1 || len(w.watched) != 5 {
		t.Errorf("told %d times, %d folders are watched", count, len(w.watched))
	}
}

func TestAClosedWatcherIsQuiet(t *testing.T) {
	t.Parallel()
	w := start(t, Options{})
	w.Add(w.path("a"))
	must(t, w.Close(), w.Close())
	w.Add(w.path("b"))
	w.Roots(w.root)
	w.Remove(w.path("a"))
	w.write("a", "")
	if len(w.notices) > 0 {
		t.Errorf("%+v", w.notices)
	}
}
