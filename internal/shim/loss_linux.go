//go:build amd64 || arm64

package shim

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/gitdir"
)

// In the project a program may do its work, and most of that can be undone: git has the text
// of a file, or the history that it was part of. A gate for effects asks before something goes
// that nothing else keeps: a file that is older than the session and whose text git does not
// have, and commits that no branch, tag or log of git names any more. What a program writes
// into a file is its work.

const (
	maxLost     = 64 << 20            // bytes of a file that is compared with what git has
	maxInFolder = 1000                // files of a folder that are looked at
	maxHistory  = 16 << 20            // bytes of a list of references, or of a log
	maxRefs     = 20000               // files with references
	forgotten   = 30 * 24 * time.Hour // git itself forgets what logs name about unreachable commits
)

// lost says what an operation in the project would lose, and why.
func (s *supervisor) lost(o *operation) (path, why string) {
	old := &o.target
	switch o.verb {
	case unlink:
	case rename:
		if path, why = s.replaced(o); why != "" {
			return path, why
		}
		old = o.other
		if s.stays(o) {
			return "", ""
		}
	case open, create, truncate:
		if why = s.overwritten(o); why != "" {
			return s.pathOf(old), why
		}
		return "", ""
	default:
		return "", ""
	}
	path = s.pathOf(old)
	if !old.exists() || !s.isProject(path) {
		return "", ""
	}
	if dir, part, ok := s.history(path); ok {
		return path, s.forgets(dir, part, old.found.kind() == unix.S_IFDIR, "")
	}
	switch old.found.kind() {
	case unix.S_IFREG:
		why = s.onlyHere(path)
	case unix.S_IFDIR:
		why = s.onlyIn(path)
	}
	return path, why
}

// isProject reports whether a path is one of the project, ignored or not.
func (s *supervisor) isProject(path string) bool {
	return strings.HasPrefix(path, s.config.Root+"/")
}

// stays reports whether what is renamed is a file of the project afterwards, as it was before, or
// was none.
func (s *supervisor) stays(o *operation) bool {
	folder := o.other.found.kind() == unix.S_IFDIR
	from, to := s.pathOf(o.other), s.pathOf(&o.target)
	if _, _, ok := s.history(from); ok {
		return !folder && s.isProject(to) // a file under another name is looked at when that goes
	}
	return !s.insideAs(from, folder) || s.insideAs(to, folder)
}

// since is when the session began.
func (s *supervisor) since() time.Time {
	if s.gate.Since.IsZero() {
		return s.began
	}
	return s.gate.Since
}

// isNew reports whether a file was made since the session began. Where the file system does not
// say that, it was not.
func (s *supervisor) isNew(path string) bool {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return false
	}
	return !time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).Before(s.since())
}

// onlyHere says why the text of a file would be lost with it.
func (s *supervisor) onlyHere(path string) string {
	if !s.insideAs(path, false) || s.isNew(path) {
		return ""
	}
	f, info, err := atomicfile.Open(path)
	if err != nil || info.Size() == 0 {
		return ""
	}
	defer f.Close()
	const why = "nothing else keeps its text"
	objects := s.objectsOf(filepath.Dir(path))
	if objects == nil || info.Size() > maxLost {
		return why
	}
	if id, err := objects.Blob(io.LimitReader(f, info.Size()), info.Size()); err != nil || !objects.Has(id) {
		return why
	}
	return ""
}

// onlyIn says why something in a folder would be lost with it.
func (s *supervisor) onlyIn(dir string) (why string) {
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !s.insideAs(path, true):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if files++; files > maxInFolder {
			return errors.New("too many files")
		}
		if _, _, ok := s.history(path); ok {
			why = "the history of git is in it"
		} else if lost := s.onlyHere(path); lost != "" {
			why = "nothing else keeps the text of " + s.inProject(path)
		}
		if why != "" {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !s.isNew(dir) {
		return "it is not known what else keeps what is in it"
	}
	return why
}

// objectsOf returns the objects of the repository that a folder of the project is in, nil if
// there is none.
func (s *supervisor) objectsOf(dir string) *gitdir.Objects {
	top, _, ok := gitdir.Above(dir)
	if !ok {
		return nil
	}
	if s.objects[top] == nil {
		_, common := gitdir.Of(top, readHistory)
		s.objects[top] = openObjects(common)
	}
	return s.objects[top]
}

func openObjects(common string) *gitdir.Objects {
	hash := 20
	if config := strings.ToLower(readHistory(filepath.Join(common, "config"))); strings.Contains(config, "objectformat") && strings.Contains(config, "sha256") {
		hash = 32
	}
	return gitdir.OpenObjects(common, hash, readHistory)
}

// readHistory reads a file of git, empty if it cannot be read or is too large.
func readHistory(path string) string {
	f, info, err := atomicfile.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHistory+1))
	if err != nil || len(data) > maxHistory || info.Size() > maxHistory {
		return ""
	}
	return string(data)
}

// history reports whether a path is one of those by which git keeps what was: objects,
// references and logs. part is the name below dir, the folder of git that has it.
func (s *supervisor) history(path string) (dir, part string, ok bool) {
	if !s.isProject(path) {
		return "", "", false
	}
	words := strings.Split(s.inProject(path), "/")
	at := slices.Index(words, ".git")
	if at < 0 || at > 0 && s.leftOut(filepath.Join(s.config.Root, filepath.Join(words[:at]...)), true) {
		return "", "", false
	}
	for i := at + 1; i < len(words); i++ {
		switch words[i] {
		case "objects", "refs", "logs", "packed-refs":
			if i > at+1 && words[at+1] != "modules" && words[at+1] != "worktrees" {
				return "", "", false
			}
			return filepath.Join(s.config.Root, filepath.Join(words[:i]...)), strings.Join(words[i:], "/"), true
		}
	}
	return "", "", false
}

// passing are references that git itself throws away: copies of another machine's, and its own
// notes while it works.
var passing = regexp.MustCompile(`^(logs/)?refs/(remotes|prefetch|bisect|rewritten|worktree)(/|$)`)

// object are the files with objects below "objects". All others follow from them.
var (
	object = regexp.MustCompile(`^objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$`)
	packed = regexp.MustCompile(`^objects/pack/pack-[0-9a-f]+\.(pack|idx)$`)
)

// forgets says what git forgets with a file or a folder of its own. next is the text that takes
// the place of a file, "" for none.
func (s *supervisor) forgets(dir, part string, folder bool, next string) string {
	if s.isNew(dir) || passing.MatchString(part) {
		return ""
	}
	switch found := object.FindStringSubmatch(part); {
	case folder:
		return "the history of git is in it"
	case found != nil:
		objects := openObjects(dir)
		defer objects.Close()
		if objects.Packed(found[1]+found[2], s.isOld) {
			return ""
		}
		return "git has it nowhere else"
	case packed.MatchString(part):
		return "git may have its objects nowhere else"
	case strings.HasPrefix(part, "objects/"), strings.HasSuffix(part, ".lock"):
		return ""
	}
	return s.unnamed(dir, part, next)
}

// isOld reports whether a file has been as it is since before the session, so that no command has
// made it up.
func (s *supervisor) isOld(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && time.Unix(st.Ctim.Unix()).Before(s.since())
}

// ids calls each with the names of commits in a reference or a log. A log has those since a time.
func ids(text string, log bool, since time.Time, each func(id string)) {
	add := func(id string) {
		if raw, err := hex.DecodeString(id); err == nil && (len(raw) == 20 || len(raw) == 32) && strings.Trim(id, "0") != "" {
			each(id)
		}
	}
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		if !log {
			add(words[0])
		} else if len(words) == 3 && (since.IsZero() || !loggedAt(line).Before(since)) {
			add(words[0])
			add(words[1])
		}
	}
}

// packedRefs are the references in a list of them, with their commits.
func packedRefs(text string) map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(text) {
		if id, ref, ok := strings.Cut(strings.TrimRight(line, "\n"), " "); ok && id != "#" {
			refs[ref] = id
		}
	}
	return refs
}

// loggedAt is the time of a line of a log: "old new name <mail> seconds zone", a tab and a message.
func loggedAt(line string) time.Time {
	line, _, _ = strings.Cut(line, "\t")
	words := strings.Fields(line[strings.LastIndexByte(line, '>')+1:])
	if len(words) == 0 {
		return time.Time{}
	}
	seconds, _ := strconv.ParseInt(words[0], 10, 64)
	return time.Unix(seconds, 0)
}

// unnamed says which commits nothing names any more when next takes the place of a reference, a
// list of them, or a log. The log of a reference that goes is about to go, too.
func (s *supervisor) unnamed(dir, part, next string) string {
	path := filepath.Join(dir, filepath.FromSlash(part))
	gone, without := make(map[string]bool), map[string]bool{path: true}
	forget := func(id string) { gone[id] = true }
	goes := func(ref string) { without[filepath.Join(dir, "logs", filepath.FromSlash(ref))] = true }
	switch old := readHistory(path); {
	case part == "packed-refs":
		left := packedRefs(next)
		for ref, id := range packedRefs(old) {
			if left[ref] == "" && !passing.MatchString(ref) {
				ids(id, false, time.Time{}, forget)
				if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(ref))); err != nil {
					goes(ref)
				}
			}
		}
	case strings.HasPrefix(part, "logs/"):
		ids(old, true, time.Now().Add(-forgotten), forget)
		ids(next, true, time.Time{}, func(id string) { delete(gone, id) })
	default:
		ids(old, false, time.Time{}, forget)
		if next == "" {
			goes(part)
		}
	}
	if len(gone) == 0 {
		return ""
	}
	if err := named(dir, without, func(id string) { delete(gone, id) }); err != nil {
		return "it is not known what else names its commits"
	}
	if part == "packed-refs" {
		for _, id := range packedRefs(next) {
			delete(gone, id)
		}
	}
	if len(gone) == 0 {
		return ""
	}
	one := slices.Sorted(func(yield func(string) bool) {
		for id := range gone {
			if !yield(id) {
				return
			}
		}
	})[0][:7]
	if len(gone) == 1 {
		return "nothing else in git names the commit " + one
	}
	return fmt.Sprintf("nothing else in git names %d commits, such as %s", len(gone), one)
}

// named calls each with the commits that git names elsewhere than in some files.
func named(dir string, without map[string]bool, each func(id string)) error {
	common := dir
	if to := strings.TrimRight(readHistory(filepath.Join(dir, "commondir")), "\r\n"); to != "" {
		if common = to; !filepath.IsAbs(to) {
			common = filepath.Join(dir, to)
		}
	}
	files := 0
	take := func(path string, log bool) {
		if !without[path] && !strings.HasSuffix(path, ".lock") {
			ids(readHistory(path), log, time.Time{}, each)
		}
	}
	walk := func(top string, log bool) error {
		return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
				return nil
			} else if err != nil {
				return err
			}
			if files++; files > maxRefs {
				return errors.New("too many references")
			}
			take(path, log)
			return nil
		})
	}
	work, err := filepath.Glob(filepath.Join(common, "worktrees", "*", "logs", "HEAD"))
	if err != nil {
		return err
	}
	for _, path := range append(work, filepath.Join(common, "logs", "HEAD")) {
		take(path, true)
	}
	take(filepath.Join(common, "packed-refs"), false)
	return cmp.Or(walk(filepath.Join(common, "refs"), false), walk(filepath.Join(common, "logs", "refs"), true))
}

// replaced says what is lost when a rename replaces a file of git.
func (s *supervisor) replaced(o *operation) (path, why string) {
	if !o.target.exists() || o.target.found.kind() != unix.S_IFREG {
		return "", ""
	}
	path = s.pathOf(&o.target)
	dir, part, ok := s.history(path)
	if !ok {
		return "", ""
	}
	return path, s.forgets(dir, part, false, readHistory(s.pathOf(o.other)))
}

// overwritten says what is lost when a file of git is opened to be written. Git itself only adds
// to its logs.
func (s *supervisor) overwritten(o *operation) string {
	if !o.target.exists() || o.target.found.kind() != unix.S_IFREG {
		return ""
	}
	dir, part, ok := s.history(s.pathOf(&o.target))
	if !ok || o.verb != truncate && o.flags&unix.O_APPEND != 0 && o.flags&unix.O_TRUNC == 0 && strings.HasPrefix(part, "logs/") {
		return ""
	}
	return s.forgets(dir, part, false, "")
}

// closeObjects closes the files of repositories.
func (s *supervisor) closeObjects() {
	for _, o := range s.objects {
		o.Close()
	}
}
