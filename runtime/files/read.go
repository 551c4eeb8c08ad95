package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
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
	f, err := w.openFile(p, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	// The size is only a hint: virtual files report none.
	data, err := io.ReadAll(io.LimitReader(f, w.opts.MaxRead+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(data)) > w.opts.MaxRead:
		return "", w.tooLarge()
	}
	text := string(data)
	if !isText(text) {
		return "", ErrNotText
	}
	return text, nil
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func (w *Workspace) tooLarge() error {
	return fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, w.opts.MaxRead)
}

// openFile opens the file at p, which must exist, and makes sure that it is the
// one that was checked.
func (w *Workspace) openFile(p *place, flag int) (*os.File, error) {
	if p.info == nil {
		return nil, fs.ErrNotExist
	}
	if err := w.checkFile(p.info); err != nil {
		return nil, err
	}
	if flag == os.O_RDONLY && p.info.Size() > w.opts.MaxRead {
		return nil, w.tooLarge()
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
