package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

const (
	opWrite = "fs/write_text_file"
	bom     = "\ufeff"
)

// WriteText replaces the content of a file, or creates the file and the
// directories it needs. The replacement is atomic. It keeps the permissions of
// the old file, and its owner and group as far as the system allows. If
// anything fails, the old content stays. Links are followed inside the roots:
// the file that a link points to is written, not the link.
//
// A name that other programs run or trust gives a *ProtectedError; see
// WriteApproved.
func (w *Workspace) WriteText(path, content string) error {
	return w.at(opWrite, path, func(p *place) error {
		_, err := w.replace(path, p, content, false, nil)
		return err
	})
}

// WriteApproved is WriteText for a place that the user has approved. It also
// writes protected names, except those that are always denied. If the path now
// leads elsewhere, it fails with ErrChanged.
func (w *Workspace) WriteApproved(loc Location, content string) error {
	_, err := w.Rewrite(loc, true, content, nil)
	return err
}

// A Change makes what a file is to hold of what it holds and what somebody wants
// to write, which has the format of the file if Options.KeepFormat is set. Its
// error leaves the file as it is.
type Change func(old, content string) (string, error)

// Rewrite writes what change makes of content, and returns it. If somebody else
// changes or makes the file meanwhile, it begins again. change is not called for
// a file that does not exist; no change means content. approved is as for
// WriteApproved.
func (w *Workspace) Rewrite(loc Location, approved bool, content string, change Change) (written string, err error) {
	err = w.at(opWrite, loc.Path, func(p *place) (err error) {
		if p.location().Real != loc.Real {
			return ErrChanged
		}
		written, err = w.replace(loc.Path, p, content, approved, change)
		return err
	})
	return written, err
}

func (w *Workspace) replace(path string, p *place, content string, approved bool, change Change) (string, error) {
	if err := w.permit(path, p, true); err != nil {
		return "", err
	}
	loc := p.location()
	var denied *ProtectedError
	if errors.As(loc.Protected(), &denied) && (denied.Denied || !approved) {
		return "", denied
	}
	if p.base == "" {
		return "", w.checkFile(p.info)
	}
	old := p.info
	if old != nil {
		var err error
		if content, old, err = w.prepare(p, content, change); err != nil {
			return "", err
		}
	}
	before := w.fault
	if change != nil {
		before = func(step string) error {
			if w.fault != nil {
				if err := w.fault(step); err != nil {
					return err
				}
			}
			return p.unchanged(old)
		}
	}
	made, err := p.makeDirs()
	if err == nil {
		w.sweep(p.dir, filepath.Dir(loc.Real))
		err = atomicfile.Replace(p.dir, p.base, content, p.info, 0o666, before)
	}
	if err != nil && len(made) > 0 {
		p.removeDirs(made)
	}
	return content, err
}

// unchanged fails with ErrChanged unless the file is still the one that old is
// the status of, nil if there was none. The last of these calls is right before
// the rename, so that what others write is hardly ever overwritten unseen.
func (p *place) unchanged(old fs.FileInfo) error {
	now, err := p.dir.Lstat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old == nil {
			return nil
		}
		return ErrChanged
	case err != nil:
		return err
	case old == nil || !os.SameFile(old, now) || now.Size() != old.Size() || !now.ModTime().Equal(old.ModTime()):
		return ErrChanged
	}
	return nil
}

// prepare opens the old file for writing, because a rename alone would also
// replace a read-only file. It fits content to the format of the file and makes
// the change. It returns the file's status before it was read.
func (w *Workspace) prepare(p *place, content string, change Change) (string, fs.FileInfo, error) {
	flag := os.O_WRONLY
	if w.opts.KeepFormat || change != nil {
		flag = os.O_RDWR
	}
	f, err := w.openFile(p, flag)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || flag == os.O_WRONLY {
		return content, info, err
	}
	data, err := io.ReadAll(io.LimitReader(f, w.opts.MaxRead+1))
	if err != nil {
		return "", nil, err
	}
	old := string(data)
	if int64(len(old)) > w.opts.MaxRead { // the rest is not looked at
		if change != nil {
			return "", nil, tooLarge(w.opts.MaxRead)
		}
		old = dropPartialRune(old)
	}
	if w.opts.KeepFormat {
		if !isText(old) {
			return "", nil, fmt.Errorf("%w; replacing it would change its encoding", ErrNotText)
		}
		content = Fit(content, old)
	}
	if change != nil {
		content, err = change(old, content)
	}
	return content, info, err
}

// dropPartialRune removes the last character, which may be cut.
func dropPartialRune(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s
}

// Fit gives content the byte order mark and the line ends of old, when old has
// CRLF or LF throughout.
func Fit(content, old string) string {
	if strings.HasPrefix(old, bom) && !strings.HasPrefix(content, bom) {
		content = bom + content
	}
	lines, crlf := strings.Count(old, "\n"), strings.Count(old, "\r\n")
	if lines == 0 || crlf != 0 && crlf != lines {
		return content
	}
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if crlf > 0 {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	return content
}

// makeDirs makes the missing directories of p and moves p into the last one.
// It returns the names it made, below the directory p was in.
func (p *place) makeDirs() (made []string, err error) {
	for i, name := range p.missing {
		if err := p.dir.Mkdir(name, 0o777); err == nil {
			made = append(made, filepath.Join(p.missing[:i+1]...))
		} else if !errors.Is(err, fs.ErrExist) {
			return made, fmt.Errorf("make directory %s: %w", printable(name), atomicfile.Reason(err))
		}
		d, err := p.enter(name)
		if err != nil {
			return made, err
		}
		p.close()
		p.dir = d
	}
	return made, nil
}

// enter opens the directory name, which must not be a link.
func (p *place) enter(name string) (*os.Root, error) {
	checked, err := p.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	d, err := p.dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if info, err := d.Stat("."); err != nil || !os.SameFile(info, checked) {
		d.Close()
		return nil, ErrChanged
	}
	return d, nil
}

// removeDirs removes the directories that a failed write created. One that is
// no longer empty stays.
func (p *place) removeDirs(made []string) {
	top := p.names[:len(p.names)-1-len(p.missing)]
	for i := len(made) - 1; i >= 0; i-- {
		p.root.handle.Remove(filepath.Join(append(append([]string(nil), top...), made[i])...))
	}
}

// sweep removes the temporary files of dead processes, once for each directory.
func (w *Workspace) sweep(dir *os.Root, path string) {
	w.mu.Lock()
	done := w.swept[path]
	w.swept[path] = true
	w.mu.Unlock()
	if !done {
		atomicfile.Sweep(dir)
	}
}
