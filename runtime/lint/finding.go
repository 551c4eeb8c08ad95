package lint

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Finding is one place where a rule was broken.
type Finding struct {
	Rule     *Rule
	Severity Severity // usually the rule's
	Version  Versions // that the connection spoke
	By       Party    // who broke it
	Message  int      // its number in the capture, from 1; 0 if there is none
	Also     []int    // other messages that it is about
	Line     int      // in the file, from 1; 0 if there is none
	Time     time.Time
	Pointer  string // JSON pointer to the value
	Name     string // the word that the specification does not have, if it is about one: a method, an update, a type
	Text     string // what is wrong, one line
	// Quote is the value and Excerpt the message, cut, with control characters escaped
	// and secrets masked.
	Quote   string
	Excerpt string

	unknown bool // the value is the Name
}

const (
	maxQuote   = 160     // bytes of a Quote
	maxExcerpt = 400     // bytes of an Excerpt
	maxMask    = 1 << 20 // bytes of a message that is masked as a whole
)

// describe fills in what the frame and the value show.
func (f *Finding) describe(m *Frame, at Value) {
	f.Pointer = at.Pointer()
	text := m.Bytes
	if len(text) > maxMask {
		text = text[:maxMask] // no longer a message, so it is masked by shape alone
	}
	masked, changed := trace.Redact(text)
	f.Excerpt = Visible(masked, maxExcerpt)
	if !at.Exists() || f.Pointer == "" {
		return
	}
	f.Quote = Visible(at.Text(), maxQuote)
	if changed {
		f.Quote = "[redacted]"
		var tree jtree.Tree
		if tree.Parse(masked) == nil {
			if v := follow(tree.Root(), f.Pointer); v.Exists() {
				f.Quote = Visible(v.Text(), maxQuote)
			}
		}
	}
	if f.unknown && at.IsString() {
		f.Name = strings.Trim(f.Quote, `"`)
	}
}

// follow returns the value at a pointer.
func follow(v Value, pointer string) Value {
	for x := range v.Below() {
		if x.Pointer() == pointer {
			return x
		}
	}
	return Value{}
}

// Visible returns the first bytes of text as one line for people: what is not printable is
// escaped. An ellipsis shows that it was cut.
func Visible(text []byte, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		if n := len(text); n > 0 && text[n-1] >= utf8.RuneSelf {
			text = text[:n-1]
		}
	}
	b := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			b = append(b, `\x`...)
			b = append(b, "0123456789abcdef"[text[0]>>4], "0123456789abcdef"[text[0]&15])
		} else if strconv.IsPrint(r) {
			b = append(b, text[:n]...)
		} else {
			q := strconv.QuoteRuneToASCII(r)
			b = append(b, q[1:len(q)-1]...)
		}
		text = text[n:]
	}
	if cut {
		b = append(b, "…"...)
	}
	return string(b)
}

// quote is text of a message in a finding.
func quote(text string) string { return Visible([]byte(text), maxQuote) }

// MarshalJSON returns the finding as one line for programs.
func (f Finding) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	at := ""
	if !f.Time.IsZero() {
		at = f.Time.UTC().Format(time.RFC3339Nano)
	}
	err := e.Encode(struct {
		Rule     string `json:"rule"`
		Severity string `json:"severity"`
		By       string `json:"by"`
		Message  int    `json:"message,omitempty"`
		Also     []int  `json:"also,omitempty"`
		Line     int    `json:"line,omitempty"`
		Time     string `json:"time,omitempty"`
		Pointer  string `json:"pointer"`
		Name     string `json:"name,omitempty"`
		Text     string `json:"text"`
		Quote    string `json:"quote,omitempty"`
		Excerpt  string `json:"excerpt,omitempty"`
		Page     string `json:"page,omitempty"`
	}{f.Rule.ID, f.Severity.String(), f.By.String(), f.Message, f.Also, f.Line, at, f.Pointer, f.Name, f.Text, f.Quote, f.Excerpt, f.Rule.URL(f.Version)})
	return bytes.TrimSpace(b.Bytes()), err
}
