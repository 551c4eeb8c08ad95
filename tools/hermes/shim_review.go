package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

const shimReviewUsage = "write what COMMAND changes in the project to `FILE`, as a patch with authors"

// openShimReview begins the patch of a run of a program in a shim. It returns nil if
// no patch was asked for.
func openShimReview(ctx context.Context, file string, c shim.Config, std *stdio) (*runReview, error) {
	switch {
	case file == "":
		return nil, nil
	case file == "-":
		return nil, usageError("--review -: standard output is that of COMMAND; name a file")
	case filepath.Dir(c.Root) == c.Root:
		return nil, fmt.Errorf("--review: the project is %s, which has the files of the whole system; choose another with --root", c.Root)
	}
	path, err := filepath.Abs(file) // what COMMAND does cannot change where it is
	if err != nil {
		return nil, err
	}
	r := &runReview{file: path, std: std, program: "hermes shim", agent: c.Agent}
	return r, r.open(ctx, c.Root)
}

// finishShim writes the patch of what a journal has, when its program has ended.
// Changes that somebody else has made meanwhile are not in it.
func (r *runReview) finishShim(journal string) error {
	if r == nil {
		return nil
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	return errors.Join(r.project.Journal(ctx, journal), r.missing(journal), r.conclude())
}

// missing adds the notes of the shim about itself. The project reports what was
// not seen.
func (r *runReview) missing(folder string) error {
	in, err := journal.Open(folder)
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		e, err := in.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.Op == journal.Note:
			r.notes.add(e.Text)
		}
	}
}
