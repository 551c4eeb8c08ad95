package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// The names in a folder of results.
const (
	batchDir   = "batches"
	allFile    = "trajectories.jsonl" // of the runs that came to an end
	failedFile = "failed.jsonl"       // of the others
	statsFile  = "statistics.json"
)

// results are the lines that runs have written so far.
type results struct {
	dir   string
	done  map[string]bool // prompts
	files map[string]*os.File
}

// openResults reads the results in a folder. A line that a killed run has not finished is
// cut off, so that the next one begins a line.
func openResults(out string) (*results, error) {
	r := &results{dir: filepath.Join(out, batchDir), done: map[string]bool{}, files: map[string]*os.File{}}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(r.dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		whole, err := readRecords(name, func(rec Record) { r.done[rec.Prompt] = r.done[rec.Prompt] || rec.Error == "" })
		if err != nil {
			return nil, err
		}
		if err := os.Truncate(name, whole); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *results) has(prompt string) bool { return r.done[prompt] }

// add appends a line in one write.
func (r *results) add(rec Record) error {
	name := filepath.Join(r.dir, fmt.Sprintf("batch_%05d.jsonl", rec.Index/Size))
	f := r.files[name]
	if f == nil {
		var err error
		if f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
			return err
		}
		r.files[name] = f
	}
	line, err := encode(rec)
	if err == nil {
		_, err = f.Write(line)
	}
	return err
}

func (r *results) close() {
	for _, f := range r.files {
		f.Close()
	}
}

// encode returns a line that people can read, too.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// readRecords reads the whole lines of a file and returns how many bytes they are. A line
// that is not a record, which a full disk can leave, is skipped.
func readRecords(name string, each func(Record)) (whole int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
		whole += int64(len(line))
		var rec Record
		if json.Unmarshal(line, &rec) == nil && rec.Prompt != "" {
			each(rec)
		}
	}
}

// Statistics sums up results.
type Statistics struct {
	Prompts   int                         `json:"prompts"`
	Completed int                         `json:"completed"`
	Failed    int                         `json:"failed"` // errors, and runs that came to no end
	Turns     int                         `json:"turns"`
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

// Combine writes what the lines in some folders say, in the order of the dataset, each
// prompt once. A result counts more than an error.
func Combine(out string, dirs ...string) (Statistics, error) {
	best := map[string]Record{}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			return Statistics{}, err
		}
		for _, name := range names {
			_, err := readRecords(name, func(rec Record) {
				if old, ok := best[rec.Prompt]; !ok || old.Error != "" || rec.Completed && !old.Completed {
					best[rec.Prompt] = rec
				}
			})
			if err != nil {
				return Statistics{}, err
			}
		}
	}
	records := slices.SortedFunc(maps.Values(best), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Prompt, b.Prompt))
	})
	stats := Statistics{Tools: map[string]trajectory.Count{}, Toolsets: map[string]int{}}
	var completed, failed bytes.Buffer
	for _, rec := range records {
		stats.add(rec)
		line, err := encode(rec)
		if err != nil {
			return stats, err
		}
		if rec.Completed {
			completed.Write(line)
		} else {
			failed.Write(line)
		}
	}
	summary, err := json.MarshalIndent(stats, "", "  ")
	return stats, errors.Join(err, replace(filepath.Join(out, allFile), completed.Bytes()),
		replace(filepath.Join(out, failedFile), failed.Bytes()), replace(filepath.Join(out, statsFile), append(summary, '\n')))
}

func (s *Statistics) add(rec Record) {
	s.Prompts++
	if rec.Completed {
		s.Completed++
	} else {
		s.Failed++
	}
	s.Turns += len(rec.Conversations)
	for name, c := range rec.Tools {
		sum := s.Tools[name]
		s.Tools[name] = trajectory.Count{Calls: sum.Calls + c.Calls, Failed: sum.Failed + c.Failed}
	}
	for _, name := range rec.Toolsets {
		s.Toolsets[name]++
	}
}

// replace writes a file in one step.
func replace(name string, content []byte) error {
	if err := os.WriteFile(name+".new", content, fs.FileMode(0o644)); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
