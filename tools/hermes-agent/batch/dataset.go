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

// ReadDataset reads a file of JSON lines: strings, or objects with prompt and maybe id, dir,
// image and check. Files and folders are relative to the dataset.
func ReadDataset(name string) ([]Prompt, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var prompts []Prompt
	lines := bufio.NewReader(f)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			p, bad := parsePrompt(line)
			if bad != nil {
				return nil, fmt.Errorf("%s: line %d: %w", name, number, bad)
			}
			p.Place = p.Dir
			for _, file := range []*string{&p.Dir, &p.Image} {
				if *file != "" && !filepath.IsAbs(*file) {
					*file = filepath.Join(filepath.Dir(name), *file)
				}
			}
			prompts = append(prompts, p)
		}
		if err == io.EOF {
			return prompts, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func parsePrompt(line []byte) (Prompt, error) {
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
