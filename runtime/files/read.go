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

const opRead = "fs/read_text_file"

// ReadText returns the selected lines of a text file exactly as they are on
// disk, byte order mark and line ends included. The file must be a regular file
// of at most Options.MaxRead bytes, UTF-8, and without NUL.
func (w *Workspace) ReadText(path string, lines Range) (string, error) {
	var text string
	err := w.at(opRead, path, func(p *place) (err error) {
		if err = w.permit(path, p, false); err == nil {
			text, err = w.readText(p)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return lines.Of(text), nil
}

func (w *Workspace) readText(p *place) (string, error) {
	if p.info != nil && p.info.Mode().IsRegular() && p.info.Size() > w.opts.MaxRead {
		return "", tooLarge(w.opts.MaxRead)
	}
	f, err := w.openFile(p, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return textOf(f, w.opts.MaxRead)
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, limit) }

// textOf reads a file of at most limit bytes. Its size is only a hint: virtual
// files report none.
func textOf(f *os.File, limit int64) (string, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(data)) > limit:
		return "", tooLarge(limit)
	}
	text := string(data)
	if !isText(text) {
		return "", ErrNotText
	}
	return text, nil
}

// Peeked is what Peek has found.
type Peeked struct {
	Location
	Size int64  // in bytes
	Text string // if IsText
	// IsText reports that the file is text of at most the size that was asked for.
	IsText bool
}

// Peek reads a file for the user, who has named it: by the rules of ReadText, but
// of a file that is larger than limit, or not text, it only says where it is and
// how large. A limit of 0 reads nothing.
func (w *Workspace) Peek(path string, limit int64) (found Peeked, err error) {
	err = w.at("read", path, func(p *place) error {
		found = Peeked{Location: p.location()}
		if err := w.permit(path, p, false); err != nil {
			return err
		}
		f, err := w.openFile(p, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if found.Size = info.Size(); found.Size > limit || limit == 0 {
			return nil
		}
		text, err := textOf(f, limit)
		if errors.Is(err, ErrNotText) || errors.Is(err, ErrTooLarge) {
			return nil
		}
		found.Text, found.IsText = text, err == nil
		return err
	})
	if err != nil {
		return Peeked{}, err
	}
	return found, nil
}

// Covers reports whether a path is below a root by its name, wherever its links
// lead.
func (w *Workspace) Covers(path string) bool {
	_, _, ok := w.locate(path)
	return ok
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// openFile opens the file at p, which must exist, and makes sure that it is the
// one that was checked.
func (w *Workspace) openFile(p *place, flag int) (*os.File, error) {
	if p.info == nil {
		return nil, fs.ErrNotExist
	}
	if err := w.checkFile(p.info); err != nil {
		return nil, err
	}
	f, err := p.dir.OpenFile(p.base, flag|atomicfile.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, p.info) {
		err = ErrChanged
	}
	if err == nil {
		err = w.checkFile(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Real returns where a path leads, for paths that the user has named or gets to
// see. Another file may be there by the time it is opened.
func Real(path string) (string, error) { return filepath.EvalSymlinks(path) }
