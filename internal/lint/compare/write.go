package compare

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Text writes what is different for people. It shows at most limit values of each
// message; 0 shows all.
func (r *Result) Text(to io.Writer, limit int) error {
	w := bufio.NewWriter(to)
	part := ""
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Part != part {
			if part = c.Part; i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, part)
		}
		c.text(w, limit)
	}
	if len(r.Findings) > 0 {
		if len(r.Changes) > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, "findings of the linter")
	}
	for _, f := range r.Findings {
		times := ""
		if f.Count > 1 {
			times = fmt.Sprintf(" (%d times)", f.Count)
		}
		x := f.Finding
		fmt.Fprintf(w, "  %s %s %s  %s, %s: %s%s\n", sign[f.Kind], x.Severity, x.Rule.ID, x.By, where(x), lint.Visible([]byte(x.Text), 400), times)
	}
	if r.Equal() {
		fmt.Fprintf(w, "No differences in %s.\n", plural(r.Same, "message"))
	} else {
		fmt.Fprintf(w, "\n%s.\n", r.summary())
	}
	return w.Flush()
}

var sign = map[Kind]string{New: "+", Gone: "-", Changed: "~", Moved: ">"}

func (c *Change) text(w io.Writer, limit int) {
	place := ""
	switch {
	case c.Old != nil && c.New != nil:
		place = fmt.Sprintf("message %d, was %d", c.New.Message, c.Old.Message)
	case c.New != nil:
		place = fmt.Sprintf("message %d", c.New.Message)
	default:
		place = fmt.Sprintf("message %d of the old capture", c.Old.Message)
	}
	if c.Count > 1 {
		fmt.Fprintf(w, "  %s the whole %s, %s from %s\n", sign[c.Kind], c.What, plural(c.Count, "message"), place)
		return
	}
	moved := ""
	if c.Kind == Moved {
		moved = ", moved"
	}
	fmt.Fprintf(w, "  %s %s: %s (%s%s)\n", sign[c.Kind], c.From, c.What, place, moved)
	if c.Excerpt != "" {
		fmt.Fprintf(w, "      %s\n", c.Excerpt)
	}
	shown := c.Values
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	for _, v := range shown {
		pointer := v.Pointer
		if pointer == "" {
			pointer = "the message"
		}
		switch {
		case v.Old == "":
			fmt.Fprintf(w, "    + %s: %s\n", pointer, v.New)
		case v.New == "":
			fmt.Fprintf(w, "    - %s: %s\n", pointer, v.Old)
		default:
			fmt.Fprintf(w, "    ~ %s\n        - %s\n        + %s\n", pointer, v.Old, v.New)
		}
	}
	if more := c.More + len(c.Values) - len(shown); more > 0 {
		fmt.Fprintf(w, "      and %s\n", plural(more, "more value"))
	}
}

func where(f lint.Finding) string {
	place := "the capture"
	if f.Message > 0 {
		place = fmt.Sprintf("message %d", f.Message)
	}
	if f.Pointer != "" {
		place += ", " + lint.Visible([]byte(f.Pointer), maxExcerpt)
	}
	return place
}

// counts returns how many changes there are of a kind.
func (r *Result) counts() (changes, findings map[Kind]int) {
	changes, findings = map[Kind]int{}, map[Kind]int{}
	for _, c := range r.Changes {
		changes[c.Kind] += c.Count
	}
	for _, f := range r.Findings {
		findings[f.Kind] += f.Count
	}
	return changes, findings
}

func (r *Result) summary() string {
	changes, findings := r.counts()
	var parts []string
	for _, k := range []Kind{Changed, New, Gone, Moved} {
		if n := changes[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k))
		}
	}
	text := plural(r.Same, "message") + " equal"
	if len(parts) > 0 {
		text += ", " + strings.Join(parts, ", ")
	}
	for _, k := range []Kind{New, Gone} {
		if n := findings[k]; n > 0 {
			text += "; " + plural(n, string(k)+" finding")
		}
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// JSON writes what is different for programs: an object a line for each change and each
// finding, and {"summary":{…}} at the end.
func (r *Result) JSON(to io.Writer) error {
	w := bufio.NewWriter(to)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, c := range r.Changes {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	for _, f := range r.Findings {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	changes, findings := r.counts()
	type messages struct {
		Equal   int `json:"equal"`
		Changed int `json:"changed"`
		New     int `json:"new"`
		Gone    int `json:"gone"`
		Moved   int `json:"moved"`
	}
	type found struct {
		New  int `json:"new"`
		Gone int `json:"gone"`
	}
	type summary struct {
		Messages messages `json:"messages"`
		Findings found    `json:"findings"`
	}
	if err := e.Encode(map[string]summary{"summary": {
		messages{r.Same, changes[Changed], changes[New], changes[Gone], changes[Moved]}, found{findings[New], findings[Gone]},
	}}); err != nil {
		return err
	}
	return w.Flush()
}
