package main

import (
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// stdio is the standard input and output of the program. Nothing else in the
// program writes to os.Stdout or os.Stderr, because agents, recordings and
// registries are not trusted, and their text gets into every kind of message.
type stdio struct {
	in  io.Reader
	out io.Writer // text, without anything that a terminal obeys
	err io.Writer // the same

	// For output that other programs read, byte for byte. On a terminal they are
	// like out and err.
	wire    io.WriteCloser
	wireErr io.Writer

	// A terminal that may show colours; nil otherwise. Text for it must be
	// printable except for the colours: nobody checks it.
	colour io.Writer

	// A terminal at standard error on which a line may be written again; nil otherwise.
	// Text for it must be printable except for what that needs.
	progress io.Writer
}

// standard returns the streams of this process.
func standard() *stdio {
	s := &stdio{in: os.Stdin, out: &printer{to: os.Stdout}, err: &printer{to: os.Stderr}, wire: os.Stdout, wireErr: os.Stderr}
	if isTerminal(os.Stdout) {
		s.wire = struct {
			io.Writer
			io.Closer
		}{s.out, os.Stdout}
		if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
			s.colour = os.Stdout
		}
	}
	if isTerminal(os.Stderr) {
		s.wireErr = s.err
		if os.Getenv("TERM") != "dumb" {
			s.progress = os.Stderr
		}
	}
	return s
}

// protocol returns standard output for a protocol. From now on anything printed
// there by mistake goes to standard error.
func (s *stdio) protocol() io.WriteCloser {
	os.Stdout = os.Stderr
	return s.wire
}

// transport returns the messages on standard input and output.
func (s *stdio) transport() transport.Transport {
	if isTerminal(os.Stdout) {
		return transport.NewStream(s.in, s.protocol())
	}
	return transport.Stdio()
}

// isTerminal reports whether a stream is a terminal or another device for people,
// but not the null device.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0 && f.Name() != os.DevNull && !isNull(info)
}

// isNull reports whether a device is the null device.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// printer passes UTF-8 text on without characters that a terminal obeys: control
// characters other than line feeds and tabs, and characters that reorder text.
// Broken UTF-8, which may be a control character to a terminal, becomes U+FFFD. It
// is safe for concurrent use.
type printer struct {
	to io.Writer

	mu   sync.Mutex
	part []byte // the beginning of a character whose rest has not arrived
	buf  []byte
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := b
	if len(p.part) > 0 {
		text = append(p.part, b...)
	}
	end := len(text) - partial(text)
	p.part = append([]byte(nil), text[end:]...)
	p.buf = appendPrintable(p.buf[:0], text[:end])
	_, err := p.to.Write(p.buf)
	if cap(p.buf) > 64<<10 {
		p.buf = nil
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// partial returns how many bytes at the end of b begin a character.
func partial(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func appendPrintable(to, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != 0x7f || c == '\n' || c == '\t' {
				to = append(to, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !obeyed(r) {
			to = utf8.AppendRune(to, r)
		}
		i += size
	}
	return to
}

// obeyed reports whether a terminal acts on a character instead of drawing it.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// oneLine keeps a foreign text on its line and in its column.
func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c == '\n' || c == '\t' {
			b[i] = ' '
		}
	}
	return string(appendPrintable(nil, b))
}

// indented keeps the lines of an agent apart from the program's own, on one
// stream.
type indented struct {
	to     io.Writer
	inside bool // a line has begun
}

func (w *indented) Write(b []byte) (int, error) {
	var text []byte
	for _, c := range b {
		if !w.inside {
			text = append(text, "  "...)
		}
		text = append(text, c)
		w.inside = c != '\n'
	}
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
