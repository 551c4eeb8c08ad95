package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	fontSize  = 14
	cellWidth = 8.4
	lineSize  = 18
	baseline  = 14
	margin    = 10
)

const (
	foreground = "#e0e2ea" // of Neovim's default colors
	background = "#14161b"
)

const (
	shortest  = 80 * time.Millisecond // of a frame
	longest   = 1500 * time.Millisecond
	lastFrame = 4 * time.Second
)

// picture collects what frames have in common.
type picture struct {
	columns, lines int
	classes, rows  []string       // in order of their first use
	ids            map[string]int // of both
}

// still draws one screen.
func still(s *screen) []byte {
	p := &picture{columns: s.columns, lines: s.lines, ids: map[string]int{}}
	return p.draw([]string{p.frame(s)}, nil)
}

// animation draws a recording. Moments in which nothing happens are shortened.
func animation(r *recording) []byte {
	s := newScreen(r.columns, r.lines)
	p := &picture{columns: s.columns, lines: s.lines, ids: map[string]int{}}
	var frames []string
	var times []time.Duration // how long each frame is shown
	for i, e := range r.events {
		s.Write([]byte(e.data))
		pause := lastFrame
		if i+1 < len(r.events) {
			pause = min(r.events[i+1].at-e.at, longest)
		}
		if last := len(frames) - 1; last >= 0 && times[last] < shortest {
			frames[last] = p.frame(s)
			times[last] += pause
		} else {
			frames, times = append(frames, p.frame(s)), append(times, pause)
		}
		if last := len(frames) - 1; last > 0 && frames[last] == frames[last-1] {
			times[last-1] += times[last]
			frames, times = frames[:last], times[:last]
		}
	}
	return p.draw(frames, times)
}

// frame refers to the rows of a screen.
func (p *picture) frame(s *screen) string {
	var b strings.Builder
	for i, line := range s.cells {
		if row := p.row(line); row != "" {
			fmt.Fprintf(&b, `<use href="#r%d" y="%d"/>`, p.id("row "+row, row, &p.rows), i*lineSize)
		}
	}
	if s.cursor {
		fmt.Fprintf(&b, `<use href="#c" x="%s" y="%d"/>`, number(float64(s.column)*cellWidth), s.row*lineSize)
	}
	return b.String()
}

func (p *picture) id(key, value string, list *[]string) int {
	id, known := p.ids[key]
	if !known {
		id = len(*list)
		p.ids[key] = id
		*list = append(*list, value)
	}
	return id
}

// row draws a line: backgrounds, then text, in runs of one style.
func (p *picture) row(line []cell) string {
	var behind, text strings.Builder
	for from := 0; from < len(line); {
		to, run := from, ""
		for to < len(line) && line[to].style == line[from].style {
			run += line[to].text
			to++
		}
		its := line[from].style
		fg, bg := rgb(its.fg, foreground), rgb(its.bg, background)
		if its.reverse {
			fg, bg = bg, fg
		}
		x, width := number(float64(from)*cellWidth), number(float64(to-from)*cellWidth)
		if bg != background {
			fmt.Fprintf(&behind, `<rect x="%s" width="%s" height="%d" fill="%s"/>`, x, width, lineSize, bg)
		}
		trimmed := strings.TrimRight(run, " ")
		if its.underline || its.strike {
			trimmed = run
		}
		if lead := len(trimmed) - len(strings.TrimLeft(trimmed, " ")); lead > 0 && !its.underline && !its.strike {
			trimmed = trimmed[lead:]
			x = number(float64(from+lead) * cellWidth)
		}
		if trimmed != "" {
			css := "fill:" + fg
			for _, extra := range []struct {
				on   bool
				rule string
			}{{its.bold, "font-weight:bold"}, {its.italic, "font-style:italic"}, {its.underline, "text-decoration:underline"}, {its.strike, "text-decoration:line-through"}} {
				if extra.on {
					css += ";" + extra.rule
				}
			}
			cells := utf8.RuneCountInString(trimmed)
			if strings.IndexFunc(trimmed, func(r rune) bool { return widthOf(r) != 1 }) >= 0 {
				cells = to - from // wide characters; blanks at its ends do not matter
			}
			// The length keeps columns aligned in any font.
			fmt.Fprintf(&text, `<text x="%s" y="%d" textLength="%s" class="s%d">%s</text>`,
				x, baseline, number(float64(cells)*cellWidth), p.id("style "+css, css, &p.classes), html.EscapeString(trimmed))
		}
		from = to
	}
	return behind.String() + text.String()
}

func (p *picture) draw(frames []string, times []time.Duration) []byte {
	var b strings.Builder
	width, height := float64(p.columns)*cellWidth+2*margin, float64(p.lines*lineSize+2*margin)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`+"\n<style>\n", number(width), number(height))
	fmt.Fprintf(&b, "text{font:%dpx 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}\n", fontSize)
	for i, css := range p.classes {
		fmt.Fprintf(&b, ".s%d{%s}\n", i, css)
	}
	if len(frames) > 1 {
		var total, at time.Duration
		for _, t := range times {
			total += t
		}
		fmt.Fprintf(&b, ".film{animation:film %sms steps(1,end) infinite}\n@keyframes film{\n", number(float64(total.Milliseconds())))
		for i, t := range times {
			fmt.Fprintf(&b, "%s%%{transform:translateX(-%spx)}\n", percent(at, total), number(float64(i)*width))
			at += t
		}
		b.WriteString("}\n")
	}
	b.WriteString("</style>\n<defs>\n")
	fmt.Fprintf(&b, `<rect id="c" width="%s" height="%d" fill="%s" opacity=".5"/>`+"\n", number(cellWidth), lineSize, foreground)
	for i, row := range p.rows {
		fmt.Fprintf(&b, `<g id="r%d">%s</g>`+"\n", i, row)
	}
	fmt.Fprintf(&b, "</defs>\n"+`<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n"+`<g class="film">`+"\n", background)
	for i, frame := range frames {
		fmt.Fprintf(&b, `<g transform="translate(%s %d)">%s</g>`+"\n", number(float64(i)*width+margin), margin, frame)
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

func percent(at, total time.Duration) string {
	return number(100 * float64(at) / float64(total))
}

// number has three decimals at most.
func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", f), "0"), ".")
}

// The 16 colors of terminals; the others are computed.
var palette = []string{
	"#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
	"#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
}

func rgb(c uint32, otherwise string) string {
	n := c & 0xffffff
	switch {
	case c>>24 == 1:
		return fmt.Sprintf("#%06x", n)
	case c>>24 == 2 && n < 16:
		return palette[n]
	case c>>24 == 2 && n >= 232:
		return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
	case c>>24 == 2:
		levels := []uint32{0, 95, 135, 175, 215, 255}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", levels[n/36], levels[n/6%6], levels[n%6])
	}
	return otherwise
}

// joined returns the recording with at most one event in the shortest time of a
// frame: how the output was cut is of no interest.
func (r *recording) joined() *recording {
	to := &recording{columns: r.columns, lines: r.lines, title: r.title}
	for _, e := range r.events {
		last := len(to.events) - 1
		if last >= 0 && e.at-to.events[last].at < shortest/2 {
			to.events[last].data += e.data
		} else {
			to.events = append(to.events, e)
		}
	}
	to.events = slices.Clip(to.events)
	return to
}
