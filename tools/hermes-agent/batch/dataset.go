package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Prompt is a line of a dataset.
type Prompt struct {
	Text  string
	Dir   string // a folder that the run works on a copy of; empty: an empty folder
	Place string // Dir as the dataset has it
	ID    string
	Image string // a file
	Check string // a command that says whether the run did what it should
	Row   string // the other members, as JSON; empty: none
}

// key returns the key of a run, by which the runs of a dataset differ. The first run of
// a prompt without other members has the text as its key.
func (p Prompt) key(sample int) string { return key(p.Text, p.Place, p.ID, sample) }

func key(prompt, dir, id string, sample int) string {
	if dir == "" && id == "" && sample == 0 {
		return prompt
	}
	return strings.Join([]string{prompt, dir, id, strconv.Itoa(sample)}, "\x00")
}

// Dataset is a file of JSON lines: strings, or objects with prompt and maybe id, dir, image
// and check. Files and folders are relative to it. It may be larger than the memory.
type Dataset struct {
	name string
	file *os.File
	own  bool // Close removes the file
}

// row is where a line is in a dataset.
type row struct {
	number int // from 1
	at     int64
	length int
}

// OpenDataset opens a dataset, which the caller closes. One that can be read only once, such
// as a pipe, is copied first.
func OpenDataset(name string) (*Dataset, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.Mode().IsRegular() {
		return &Dataset{name: name, file: f}, nil
	}
	defer f.Close()
	kept, err := os.CreateTemp("", "hermes-agent-dataset-*")
	if err != nil {
		return nil, err
	}
	// Windows cannot remove a file that is open.
	d := &Dataset{name: name, file: kept, own: os.Remove(kept.Name()) != nil}
	if _, err := io.Copy(kept, f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), d.Close())
	}
	return d, nil
}

// Close ends the use of the dataset.
func (d *Dataset) Close() error {
	err := d.file.Close()
	if d.own {
		err = errors.Join(err, os.Remove(d.file.Name()))
	}
	return err
}

// each reads all rows, one at a time.
func (d *Dataset) each(f func(row, Prompt)) error {
	const all = 1<<63 - 1
	lines := bufio.NewReader(io.NewSectionReader(d.file, 0, all))
	at := int64(0)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		r := row{number, at, len(line)}
		at += int64(len(line))
		if len(bytes.TrimSpace(line)) > 0 {
			p, err := d.parse(r, line)
			if err != nil {
				return err
			}
			f(r, p)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
}

// prompt reads a row again.
func (d *Dataset) prompt(r row) (Prompt, error) {
	line := make([]byte, r.length)
	if _, err := d.file.ReadAt(line, r.at); err != nil && err != io.EOF {
		return Prompt{}, fmt.Errorf("%s: %w", d.name, err)
	}
	return d.parse(r, line)
}

func (d *Dataset) parse(r row, line []byte) (Prompt, error) {
	p, err := parsePrompt(bytes.TrimSpace(line))
	if err != nil {
		return p, fmt.Errorf("%s: line %d: %w", d.name, r.number, err)
	}
	p.Place = p.Dir
	for _, file := range []*string{&p.Dir, &p.Image} {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(filepath.Dir(d.name), *file)
		}
	}
	return p, nil
}

func parsePrompt(line []byte) (Prompt, error) {
	if len(line) == 0 {
		return Prompt{}, errors.New("no prompt")
	}
	var p Prompt
	if line[0] == '"' {
		if err := json.Unmarshal(line, &p.Text); err != nil {
			return p, err
		}
	} else if err := p.read(line); err != nil {
		return p, err
	}
	if strings.TrimSpace(p.Text) == "" {
		return p, errors.New("no prompt")
	}
	return p, nil
}

func (p *Prompt) read(line []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return err
	}
	for name, to := range map[string]*string{"prompt": &p.Text, "dir": &p.Dir, "image": &p.Image, "check": &p.Check} {
		if raw, ok := members[name]; ok && string(raw) != "null" {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		delete(members, name)
	}
	if raw, ok := members["id"]; ok && json.Unmarshal(raw, &p.ID) != nil {
		p.ID = string(raw) // a number
	}
	delete(members, "id")
	if len(members) == 0 {
		return nil
	}
	b, err := json.Marshal(members)
	p.Row = string(b)
	return err
}

// Distribution says how likely each toolset is for a prompt, in percent.
type Distribution map[string]float64

// ParseDistribution reads "core=100,process=50". A name alone means 100.
func ParseDistribution(text string) (Distribution, error) {
	d := Distribution{}
	for _, part := range strings.Split(text, ",") {
		name, share, ok := strings.Cut(strings.TrimSpace(part), "=")
		percent := 100.0
		if ok {
			var err error
			if percent, err = strconv.ParseFloat(share, 64); err != nil || !(percent >= 0 && percent <= 100) {
				return nil, fmt.Errorf("distribution %q: %q is not a share from 0 to 100", text, share)
			}
		}
		if name == "" {
			return nil, fmt.Errorf("distribution %q: a toolset has no name", text)
		}
		d[name] = percent
	}
	return d, nil
}

// Pick chooses the toolsets of a prompt, the same ones each time. If none is chosen, it is
// the likeliest.
func (d Distribution) Pick(seed uint64, prompt string) []string {
	random := rand.New(rand.NewPCG(seed, hash(prompt)))
	var names, picked []string
	for name := range d {
		names = append(names, name)
	}
	slices.Sort(names)
	best := ""
	for _, name := range names {
		if best == "" || d[name] > d[best] {
			best = name
		}
		if random.Float64()*100 < d[name] {
			picked = append(picked, name)
		}
	}
	if len(picked) == 0 && best != "" {
		picked = []string{best}
	}
	return picked
}

// ParseShard reads "I/N", with I from 0 to N-1.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("shard %q: want I/N with I from 0 to N-1", text)
	}
	return Shard{i, n}, nil
}
