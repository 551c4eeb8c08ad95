package review

import (
	"errors"
	"fmt"
)

// ErrClaimed refuses to write what only a report says that a file was.
var ErrClaimed = errors.New("only a report says what the file was, and anybody can report anything; change the file yourself, or accept the change")

// ErrOther refuses to bring back what has no text.
var ErrOther = errors.New("its content is not kept")

// Claimed records a change of which only whoever reports it says what the file was
// before. It is shown, but never rejected: that would write what was reported.
func (r *Review) Claimed(author Author, path string, before, after State) error {
	return r.locked(func() error {
		f := r.files[path]
		if f == nil {
			f = &tracked{file: fileOf(before.plain())}
			r.files[path] = f
		} else {
			r.set(path, f, f.write(before.plain(), writer{}))
		}
		f.claimed = true
		return r.changed(author, path, f, after)
	})
}

// Refusal is why a plan leaves out a file.
type Refusal struct {
	Path string
	Err  error
}

// refuse returns why a file cannot be made another one by taking changes back, or nil.
func (f *tracked) refuse(path string, now file) error {
	switch {
	case f.claimed:
		return fmt.Errorf("reject a change of %s: %w", path, ErrClaimed)
	case now.text.mixed():
		return &MixedError{path}
	case now.current().Kind == Other && now.current() != f.current():
		return fmt.Errorf("make %s %s again: %w", path, now.current().Target, ErrOther)
	}
	return nil
}
