package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is how a cell looks. Colors are 0 for the default, 1<<24 | RGB, or
// 2<<24 | an index of the palette.
type style struct {
	fg, bg                                   uint32
	bold, italic, underline, strike, reverse bool
}

// cell is one place on the screen. The second place of a wide character has no text.
type cell struct {
	text  string
	style style
}

// screen understands what Neovim writes to a terminal of the type xterm-256color.
type screen struct {
	columns, lines int
	cells          [][]cell
	row, column    int
	cursor         bool // is visible
	style          style
	top, bottom    int // the lines that scroll
	wrap           bool
	last           rune
	rest           []byte // an incomplete sequence
}

func newScreen(columns, lines int) *screen {
	s := &screen{columns: columns, lines: lines, bottom: lines - 1, cursor: true}
	for range lines {
		s.cells = append(s.cells, s.blank())
	}
	return s
}

func (s *screen) blank() []cell {
	line := make([]cell, s.columns)
	for i := range line {
		line[i] = cell{" ", style{bg: s.style.bg}}
	}
	return line
}

// text is what a reader of the screen sees.
func (s *screen) text() string {
	var b strings.Builder
	for _, line := range s.cells {
		for _, c := range line {
			b.WriteString(c.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Write shows output of a program.
func (s *screen) Write(p []byte) (int, error) {
	data := append(s.rest, p...)
	for len(data) > 0 {
		n := s.step(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	s.rest = append([]byte(nil), data...)
	return len(p), nil
}

// step shows what data begins with and returns its length, or 0 if it is incomplete.
func (s *screen) step(data []byte) int {
	switch c := data[0]; {
	case c == '\x1b':
		return s.escape(data)
	case c < ' ':
		s.control(c)
		return 1
	case !utf8.FullRune(data):
		return 0
	}
	r, n := utf8.DecodeRune(data)
	s.put(r)
	return n
}

func (s *screen) control(c byte) {
	switch c {
	case '\r':
		s.column = 0
	case '\n':
		s.down()
	case '\b':
		s.column = max(s.column-1, 0)
	case '\t':
		s.column = min(s.column/8*8+8, s.columns-1)
	}
	s.wrap = false
}

func (s *screen) down() {
	if s.row == s.bottom {
		s.scroll(s.top, 1)
	} else {
		s.row = min(s.row+1, s.lines-1)
	}
}

// scroll moves the lines from top to the end of the scrolling region up, or down.
func (s *screen) scroll(top, by int) {
	region := s.cells[top : s.bottom+1]
	for range min(max(by, -by), len(region)) {
		if by > 0 {
			copy(region, region[1:])
			region[len(region)-1] = s.blank()
		} else {
			copy(region[1:], region)
			region[0] = s.blank()
		}
	}
}

func (s *screen) put(r rune) {
	width := widthOf(r)
	if width == 0 {
		if s.column > 0 {
			s.cells[s.row][s.column-1].text += string(r)
		}
		return
	}
	if s.wrap || s.column+width > s.columns {
		s.column, s.wrap = 0, false
		s.down()
	}
	s.cells[s.row][s.column] = cell{string(r), s.style}
	if width == 2 {
		s.cells[s.row][s.column+1] = cell{"", s.style}
	}
	s.last = r
	if s.column += width; s.column == s.columns {
		s.column, s.wrap = s.columns-1, true
	}
}

func widthOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

func (s *screen) escape(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '[':
		for i := 2; i < len(data); i++ {
			if data[i] >= 0x40 && data[i] <= 0x7e {
				s.command(string(data[2:i]), data[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^': // strings, such as titles and queries
		for i := 2; i < len(data); i++ {
			if data[i] == '\a' {
				return i + 1
			} else if data[i] == '\\' && data[i-1] == '\x1b' {
				return i + 1
			}
		}
		return 0
	case '(', ')':
		if len(data) < 3 {
			return 0
		}
		return 3
	case 'M':
		if s.row == s.top {
			s.scroll(s.top, -1)
		} else {
			s.row = max(s.row-1, 0)
		}
	}
	return 2
}

// command is a control sequence, such as "1;5" and 'H'.
func (s *screen) command(params string, final byte) {
	if strings.HasPrefix(params, "?") {
		if params == "?25" {
			s.cursor = final == 'h'
		} else if params == "?1049" {
			s.style = style{}
			s.erase(0, 0, s.lines-1, s.columns)
		}
		return
	}
	if strings.IndexFunc(params, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' }) >= 0 {
		return
	}
	if final == 'm' {
		s.restyle(params)
		return
	}
	list := strings.Split(params, ";")
	at := func(i, otherwise int) int {
		if i < len(list) && list[i] != "" && list[i] != "0" {
			n, _ := strconv.Atoi(list[i])
			return n
		}
		return otherwise
	}
	n, line := at(0, 1), s.cells[s.row]
	s.wrap = s.wrap && final == 'b'
	switch final {
	case 'A':
		s.row = max(s.row-n, 0)
	case 'B', 'e':
		s.row = min(s.row+n, s.lines-1)
	case 'C', 'a':
		s.column = min(s.column+n, s.columns-1)
	case 'D':
		s.column = max(s.column-n, 0)
	case 'G', '`':
		s.column = min(n, s.columns) - 1
	case 'd':
		s.row = min(n, s.lines) - 1
	case 'H', 'f':
		s.row, s.column = min(n, s.lines)-1, min(at(1, 1), s.columns)-1
	case 'J':
		switch at(0, 0) {
		case 0:
			s.erase(s.row, s.column, s.lines-1, s.columns)
		case 1:
			s.erase(0, 0, s.row, s.column+1)
		default:
			s.erase(0, 0, s.lines-1, s.columns)
		}
	case 'K':
		switch at(0, 0) {
		case 0:
			s.erase(s.row, s.column, s.row, s.columns)
		case 1:
			s.erase(s.row, 0, s.row, s.column+1)
		default:
			s.erase(s.row, 0, s.row, s.columns)
		}
	case 'X':
		s.erase(s.row, s.column, s.row, min(s.column+n, s.columns))
	case '@':
		n = min(n, s.columns-s.column)
		copy(line[s.column+n:], line[s.column:])
		copy(line[s.column:], s.blank()[:n])
	case 'P':
		n = min(n, s.columns-s.column)
		copy(line[s.column:], line[s.column+n:])
		copy(line[s.columns-n:], s.blank()[:n])
	case 'L':
		s.scroll(s.row, -n)
	case 'M':
		s.scroll(s.row, n)
	case 'S':
		s.scroll(s.top, n)
	case 'T':
		s.scroll(s.top, -n)
	case 'r':
		s.top, s.bottom = n-1, min(at(1, s.lines), s.lines)-1
		s.row, s.column = 0, 0
	case 'b':
		for range n {
			s.put(s.last)
		}
	}
}

// erase blanks from one place to before another.
func (s *screen) erase(row, column, lastRow, end int) {
	for ; row <= lastRow; row, column = row+1, 0 {
		to := s.columns
		if row == lastRow {
			to = end
		}
		copy(s.cells[row][column:to], s.blank())
	}
}

// restyle sets the style from the parameters of a sequence.
func (s *screen) restyle(params string) {
	list := strings.FieldsFunc(params+";", func(r rune) bool { return r == ';' })
	if len(list) == 0 {
		s.style = style{}
	}
	for i := 0; i < len(list); i++ {
		parts := strings.Split(list[i], ":") // 4:3 is a curly underline
		n, _ := strconv.Atoi(parts[0])
		if (n == 38 || n == 48 || n == 58) && len(parts) == 1 {
			take := min(2+2*b2i(i+1 < len(list) && list[i+1] == "2"), len(list)-1-i)
			parts = append(parts, list[i+1:i+1+take]...)
			i += take
		}
		switch {
		case n == 0:
			s.style = style{}
		case n == 1:
			s.style.bold = true
		case n == 3:
			s.style.italic = true
		case n == 4:
			s.style.underline = len(parts) < 2 || parts[1] != "0"
		case n == 7:
			s.style.reverse = true
		case n == 9:
			s.style.strike = true
		case n == 22:
			s.style.bold = false
		case n == 23:
			s.style.italic = false
		case n == 24:
			s.style.underline = false
		case n == 27:
			s.style.reverse = false
		case n == 29:
			s.style.strike = false
		case n >= 30 && n <= 37:
			s.style.fg = 2<<24 | uint32(n-30)
		case n >= 90 && n <= 97:
			s.style.fg = 2<<24 | uint32(n-90+8)
		case n >= 40 && n <= 47:
			s.style.bg = 2<<24 | uint32(n-40)
		case n >= 100 && n <= 107:
			s.style.bg = 2<<24 | uint32(n-100+8)
		case n == 38:
			s.style.fg = color(parts)
		case n == 48:
			s.style.bg = color(parts)
		case n == 39:
			s.style.fg = 0
		case n == 49:
			s.style.bg = 0
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// color reads 38;2;r;g;b, 38:2::r:g:b or 38;5;n.
func color(parts []string) uint32 {
	number := func(i int) uint32 {
		n, _ := strconv.ParseUint(parts[i], 10, 8)
		return uint32(n)
	}
	switch {
	case len(parts) >= 3 && parts[1] == "5":
		return 2<<24 | number(2)
	case len(parts) >= 5 && parts[1] == "2":
		last := len(parts) - 1
		return 1<<24 | number(last-2)<<16 | number(last-1)<<8 | number(last)
	}
	return 0
}
