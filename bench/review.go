package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// ReviewSizes are how much there is to review.
type ReviewSizes struct {
	Changed int // files that an agent has changed
	Tree    int // files of the project
	Lines   int // of one file, every hundredth of which is changed
	// Pause comes before the first snapshot. Files younger than two seconds are
	// read again each time, because they may change without another time.
	Pause time.Duration
}

// Review is what the review of a project takes: the least of all rounds.
type Review struct {
	First time.Duration // the first snapshot, which reads every file
	Again time.Duration // a prompt with its snapshot and its checkpoint, later
	Walk  time.Duration // the same files, only their names and sizes

	Open  time.Duration // a review with its changed files, from the disk
	List  time.Duration // them
	Hunks time.Duration // of one
	Bytes int64         // of memory for each of them

	Change time.Duration // an agent's write of a file, of which every hundredth line differs
	Git    time.Duration // git diff of the same texts, with the start of git
	Accept time.Duration // one hunk of it
}

// MeasureReview measures a project in a new folder.
func MeasureReview(ctx context.Context, sizes ReviewSizes, rounds int) (*Review, error) {
	dir, err := os.MkdirTemp("", "bench-review")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := &reviewMeasure{ctx: ctx, dir: dir, root: filepath.Join(dir, "project"), sizes: sizes, rounds: rounds}
	if err := errors.Join(m.tree(), m.open(), m.checkpoints()); err != nil {
		return nil, err
	}
	err = errors.Join(m.changes(), m.files(), m.p.Close())
	return &m.r, err
}

type reviewMeasure struct {
	ctx       context.Context
	dir, root string
	sizes     ReviewSizes
	rounds    int
	p         *project.Project
	r         Review
}

// least notes how long f takes, if it is the least.
func least(to *time.Duration, f func() error) error {
	start := time.Now()
	err := f()
	if took := time.Since(start); *to == 0 || took < *to {
		*to = took
	}
	return err
}

func (m *reviewMeasure) name(i int) string { return fmt.Sprintf("d%d/f%d.go", i%100, i) }

func (m *reviewMeasure) tree() error {
	for i := range m.sizes.Tree {
		path := filepath.Join(m.root, m.name(i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintln("line of file", i), 200)), 0o644); err != nil {
			return err
		}
	}
	time.Sleep(m.sizes.Pause)
	return nil
}

func (m *reviewMeasure) open() error {
	p, err := project.Open(filepath.Join(m.dir, "state"), m.root, project.Options{})
	if err == nil {
		m.p = p
	}
	return err
}

func (m *reviewMeasure) checkpoints() error {
	prompt := func() error { return m.p.Prompt(m.ctx, "s", "turn", "do it") }
	if err := least(&m.r.First, prompt); err != nil {
		return err
	}
	for range m.rounds {
		err := errors.Join(least(&m.r.Again, prompt), least(&m.r.Walk, func() error {
			return filepath.WalkDir(m.root, func(_ string, d fs.DirEntry, err error) error {
				if err == nil {
					_, err = d.Info()
				}
				return err
			})
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// changes measures one large file.
func (m *reviewMeasure) changes() error {
	r, author := m.p.Review(), review.Author{Session: "s", Turn: "turn", Source: "write"}
	lines := make([]string, m.sizes.Lines)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tline %d of a file of some length\n", i)
	}
	old := strings.Join(lines, "")
	for i := 0; i < len(lines); i += 100 {
		lines[i] = "changed\n"
	}
	now := strings.Join(lines, "")
	state := func(text string) review.State { return review.State{Kind: review.Regular, Text: text, Mode: 0o644} }
	a, b := filepath.Join(m.dir, "old"), filepath.Join(m.dir, "new")
	if err := errors.Join(os.WriteFile(a, []byte(old), 0o644), os.WriteFile(b, []byte(now), 0o644)); err != nil {
		return err
	}
	base := state(old)
	for i := range m.rounds {
		name := fmt.Sprintf("large%d", i)
		err := errors.Join(
			least(&m.r.Change, func() error { return r.Changed(author, name, &base, state(now)) }),
			least(&m.r.Git, func() error {
				err := exec.CommandContext(m.ctx, "git", "diff", "--no-index", "--output=/dev/null", a, b).Run()
				if differ := (*exec.ExitError)(nil); errors.As(err, &differ) && differ.ExitCode() == 1 {
					return nil
				}
				return err
			}),
		)
		if err != nil {
			return err
		}
		hunk := r.Hunks(name)[m.sizes.Lines/200]
		if err := least(&m.r.Accept, func() error { _, err := r.Accept(review.Selection{Hunk: hunk.ID, Path: name}); return err }); err != nil {
			return err
		}
		if _, err := r.Accept(review.Selection{Path: name}); err != nil {
			return err
		}
	}
	return nil
}

// files measures many changed files.
func (m *reviewMeasure) files() error {
	author := review.Author{Session: "s", Turn: "turn", Source: "disk", Inferred: true}
	for i := range m.sizes.Changed {
		text := strings.Repeat(fmt.Sprintln("line of file", i), 200) + "an agent's line\n"
		if err := os.WriteFile(filepath.Join(m.root, m.name(i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	m.p.TurnEnded(author)
	if err := errors.Join(m.p.Wait(m.ctx), m.p.Tidy()); err != nil {
		return err
	}
	for range m.rounds {
		if err := m.p.Close(); err != nil {
			return err
		}
		m.p = nil
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := least(&m.r.Open, m.open); err != nil {
			return err
		}
		var files []review.File
		if err := least(&m.r.List, func() error { files = m.p.Review().Files(); return nil }); err != nil {
			return err
		}
		if len(files) != m.sizes.Changed {
			return fmt.Errorf("%d changed files, not %d", len(files), m.sizes.Changed)
		}
		name := files[len(files)/2].Path
		if err := least(&m.r.Hunks, func() error { m.p.Review().Hunks(name); return nil }); err != nil {
			return err
		}
		if err := m.p.Wait(m.ctx); err != nil {
			return err
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(m.sizes.Changed); m.r.Bytes == 0 || n < m.r.Bytes {
			m.r.Bytes = n
		}
	}
	return nil
}
