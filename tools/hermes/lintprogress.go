package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// progress shows how far a matrix is: a line for each agent that begins and ends, and on
// a terminal one below them that is written again and again.
type progress struct {
	out  io.Writer // the lines
	line io.Writer // the terminal; nil without one

	mu      sync.Mutex
	all     int
	ended   int
	failed  int
	running map[string]*underway
}

// underway is an agent that is being driven.
type underway struct {
	began time.Time
	step  string // that was played last
}

func newProgress(std *stdio) *progress {
	return &progress{out: std.err, line: std.progress, running: map[string]*underway{}}
}

func (p *progress) begin(all int) { p.all = all }

// say writes a line about an agent.
func (p *progress) say(agent, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(agent, text)
}

func (p *progress) start(agent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[agent] = &underway{began: time.Now()}
	p.tell(agent, "is driven")
}

func (p *progress) step(agent, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u := p.running[agent]; u != nil {
		u.step = id
	}
	p.draw()
}

func (p *progress) done(agent, result string, failed, kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended++; failed {
		p.failed++
	}
	took := ""
	if u := p.running[agent]; u != nil {
		took = fmt.Sprintf(" (%v)", time.Since(u.began).Round(time.Second))
	}
	if kept {
		took = " (kept)"
	}
	delete(p.running, agent)
	p.tell(agent, result+took)
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.line = nil
}

func (p *progress) tell(agent, text string) {
	p.clear()
	fmt.Fprintf(p.out, "%d/%d %s: %s\n", p.ended, p.all, oneLine(agent), oneLine(text))
	p.draw()
}

func (p *progress) clear() {
	if p.line != nil {
		io.WriteString(p.line, "\r\x1b[K")
	}
}

// draw writes the line of a terminal again, as wide as that.
func (p *progress) draw() {
	if p.line == nil {
		return
	}
	var now []string
	for _, agent := range slices.Sorted(maps.Keys(p.running)) {
		now = append(now, strings.TrimSpace(agent+" "+p.running[agent].step))
	}
	text := oneLine(fmt.Sprintf("%d of %d done, %d not passed; %s", p.ended, p.all, p.failed, strings.Join(now, ", ")))
	p.clear()
	io.WriteString(p.line, shortened(text, width(p.line)-1))
}

// width is how many columns a terminal has.
func width(terminal io.Writer) int {
	if f, ok := terminal.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 1 {
			return w
		}
	}
	return 80
}

// shortened is the beginning of a text, of at most n characters.
func shortened(text string, n int) string {
	for utf8.RuneCountInString(text) > n {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
