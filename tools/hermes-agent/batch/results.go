package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// The names in a folder of results.
const (
	batchDir   = "batches"
	allFile    = "trajectories.jsonl" // of the runs that came to an end
	failedFile = "failed.jsonl"       // of the others
	atifFile   = "trajectories.atif.jsonl"
	statsFile  = "statistics.json"
)

// lockFile keeps two runs out of one folder.
const lockFile = "lock"

// results are the lines that runs have written so far.
type results struct {
	dir   string
	lock  *os.File
	done  map[digest]bool // by the keys of prompts
	files map[string]*os.File
	spent Outcome // tokens and cost of all lines
}

// private is the mode of records: they have the output of commands in them.
const private = 0o600

// digest is the digest of a key: the keys of a large dataset would fill the
// memory.
type digest [sha256.Size]byte

func sum(key string) digest { return sha256.Sum256([]byte(key)) }

// openResults reads the results in a folder, which nobody else may use meanwhile. A line
// that a killed run has not finished is cut off, so that the next one begins a line.
func openResults(out string) (_ *results, err error) {
	r := &results{dir: filepath.Join(out, batchDir), done: map[digest]bool{}, files: map[string]*os.File{}}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	if r.lock, err = os.OpenFile(filepath.Join(out, lockFile), os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if errors.Is(atomicfile.TryLock(r.lock), atomicfile.ErrLocked) {
		return nil, fmt.Errorf("another run works in %s; use another folder and merge both, or wait for it", out)
	}
	names, err := filepath.Glob(filepath.Join(r.dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		whole, err := readLines(name, func(l line) {
			at := sum(l.key())
			r.done[at] = r.done[at] || l.Error == ""
			r.use(l.Tokens, l.Cost)
		})
		if err != nil {
			return nil, err
		}
		if err := os.Truncate(name, whole); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// use counts what a result has cost.
func (r *results) use(t Tokens, cost float64) {
	r.spent.Tokens.Input += t.Input
	r.spent.Tokens.Output += t.Output
	r.spent.Cost += cost
}

// add appends a line in one write.
func (r *results) add(rec Record) error {
	name := filepath.Join(r.dir, fmt.Sprintf("batch_%05d.jsonl", rec.Index/Size))
	f := r.files[name]
	if f == nil {
		var err error
		if f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, private); err != nil {
			return err
		}
		r.files[name] = f
	}
	line, err := encode(rec)
	if err == nil {
		_, err = f.Write(line)
	}
	r.use(rec.Tokens, rec.Cost)
	return err
}

func (r *results) close() {
	for _, f := range r.files {
		f.Close()
	}
	atomicfile.Unlock(r.lock) // a process that is being started may have a copy
	r.lock.Close()
}

// encode returns a line that people can read, too.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// line is a record without its conversation, and where it is.
type line struct {
	Index     int
	Sample    int
	ID        string
	Prompt    string
	Dir       string
	Completed bool
	Error     string
	Tokens    Tokens
	Cost      float64
	Tools     map[string]struct{}
	ATIF      *struct{}

	file   string
	at     int64
	length int
}

func (l line) key() string { return key(l.Prompt, l.Dir, l.ID, l.Sample) }

// readLines reads the whole lines of a file, one at a time, and returns how many bytes they
// are. A line that is not a record, which a full disk can leave, is skipped.
func readLines(name string, each func(line)) (whole int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		text, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
		l := line{file: name, at: whole, length: len(text)}
		whole += int64(len(text))
		if json.Unmarshal(text, &l) == nil && l.Prompt != "" {
			each(l)
		}
	}
}

// Statistics sums up results.
type Statistics struct {
	Prompts   int                         `json:"prompts"`
	Completed int                         `json:"completed"`
	Failed    int                         `json:"failed"` // errors, and runs that came to no end
	Turns     int                         `json:"turns"`  // answers of the model
	Tokens    Tokens                      `json:"tokens"`
	Cost      float64                     `json:"cost"`
	Checked   int                         `json:"checked"`
	Passed    int                         `json:"passed"`   // of Checked
	Failures  map[string]int              `json:"failures"` // how often a run failed, by why
	Tools     map[string]trajectory.Count `json:"tools"`
	Toolsets  map[string]int              `json:"toolsets"` // prompts that had them
}

// Merge combines the folders of several runs, such as shards, into one. It gives what one
// run of everything would have given.
func Merge(out string, from ...string) (Statistics, error) {
	var dirs []string
	for _, dir := range from {
		dir = filepath.Join(dir, batchDir)
		if _, err := os.Stat(dir); err != nil {
			return Statistics{}, err
		}
		dirs = append(dirs, dir)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return Statistics{}, err
	}
	return Combine(out, dirs...)
}

// Combine writes the results in some folders, in the order of the dataset, each prompt
// once. A result wins over an error. It holds one line in memory at a time.
func Combine(out string, dirs ...string) (Statistics, error) {
	list, tools, err := best(dirs)
	if err != nil {
		return Statistics{}, err
	}
	stats := Statistics{Tools: map[string]trajectory.Count{}, Toolsets: map[string]int{}, Failures: map[string]int{}}
	files := map[string]*os.File{}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	names := []string{allFile, failedFile}
	if slices.ContainsFunc(list, func(l line) bool { return l.ATIF != nil }) {
		names = append(names, atifFile)
	}
	err = replace(out, names, func(to []*bufio.Writer) error {
		for _, l := range list {
			rec, err := l.record(files)
			if err != nil {
				return err
			}
			stats.add(rec)
			harbor := rec.ATIF
			rec.fill(tools)
			text, err := encode(rec)
			if err != nil {
				return err
			}
			if !rec.Completed {
				to[1].Write(text) // Flush has the error
				continue
			}
			to[0].Write(text)
			if harbor != nil {
				if text, err = encode(harbor); err != nil {
					return err
				}
				to[2].Write(text)
			}
		}
		return nil
	})
	if err != nil {
		return stats, err
	}
	return stats, atomicfile.File(filepath.Join(out, statsFile), 0o644, func(w io.Writer) error {
		summary, err := json.MarshalIndent(stats, "", "  ")
		if err == nil {
			_, err = w.Write(append(summary, '\n'))
		}
		return err
	})
}

// replace writes files, each of which is replaced once it is whole.
func replace(dir string, names []string, write func([]*bufio.Writer) error) error {
	if len(names) == 0 {
		return write(nil)
	}
	return atomicfile.File(filepath.Join(dir, names[0]), private, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		err := replace(dir, names[1:], func(others []*bufio.Writer) error { return write(append([]*bufio.Writer{b}, others...)) })
		return errors.Join(err, b.Flush())
	})
}

// best returns the best line of each prompt in the order of the dataset, and the names of
// all tools.
func best(dirs []string) (list []line, tools map[string]struct{}, err error) {
	found, tools := map[digest]line{}, map[string]struct{}{}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			_, err := readLines(name, func(l line) {
				at := sum(l.key())
				if old, ok := found[at]; ok && old.Error == "" && (!l.Completed || old.Completed) {
					return
				}
				maps.Copy(tools, l.Tools)
				if l.Error != "" {
					l.Error = "yes" // only whether it has one matters
				}
				l.Prompt, l.Tools = string(at[:]), nil // for the order
				found[at] = l
			})
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Sample, b.Sample), cmp.Compare(a.Prompt, b.Prompt))
	}), tools, nil
}

// record reads the whole record of a line.
func (l line) record(files map[string]*os.File) (rec Record, err error) {
	f := files[l.file]
	if f == nil {
		if f, err = os.Open(l.file); err != nil {
			return rec, err
		}
		files[l.file] = f
	}
	b := make([]byte, l.length)
	if _, err = f.ReadAt(b, l.at); err == nil {
		err = json.Unmarshal(b, &rec)
	}
	return rec, err
}

// fill gives all records the same tools, because what reads columns wants that, no time,
// because the same dataset should give the same bytes, and their conversation once.
func (r *Record) fill(tools map[string]struct{}) {
	counts := map[string]trajectory.Count{}
	for name := range tools {
		counts[name] = r.Tools[name]
	}
	r.Tools, r.Seconds, r.ATIF = counts, 0, nil
}

func (s *Statistics) add(rec Record) {
	s.Prompts++
	if rec.Completed {
		s.Completed++
	} else {
		s.Failed++
	}
	if !rec.Completed {
		s.Failures[cmp.Or(rec.Error, rec.Stop, "no end")]++
	}
	for _, turn := range rec.Conversations {
		if turn.From == "gpt" {
			s.Turns++
		}
	}
	s.Tokens.Input += rec.Tokens.Input
	s.Tokens.Output += rec.Tokens.Output
	s.Tokens.Cached += rec.Tokens.Cached
	s.Cost += rec.Cost
	if rec.Check != nil {
		s.Checked++
		if rec.Check.Passed {
			s.Passed++
		}
	}
	for name, c := range rec.Tools {
		sum := s.Tools[name]
		s.Tools[name] = trajectory.Count{Calls: sum.Calls + c.Calls, Failed: sum.Failed + c.Failed}
	}
	for _, name := range rec.Toolsets {
		s.Toolsets[name]++
	}
}
