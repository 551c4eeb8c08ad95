package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
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
	Text string
	Dir  string // a folder to work on
}

// ReadDataset reads a file of JSON lines: strings, or objects with prompt and maybe dir,
// which is relative to the file.
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
			if p.Dir != "" && !filepath.IsAbs(p.Dir) {
				p.Dir = filepath.Join(filepath.Dir(name), p.Dir)
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
	var v struct{ Prompt, Dir string }
	var err error
	if line[0] == '"' {
		err = json.Unmarshal(line, &v.Prompt)
	} else {
		err = json.Unmarshal(line, &v)
	}
	if err == nil && strings.TrimSpace(v.Prompt) == "" {
		err = fmt.Errorf("no prompt")
	}
	return Prompt{v.Prompt, v.Dir}, err
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
