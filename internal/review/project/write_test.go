package project

import (
	"fmt"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// An editor may begin or end to hold a file at any time, also while Hermes writes it for an
// agent. The review has the text of the buffer then, and asks the editor to look: a decision
// would not fit the buffer otherwise.
func TestAFileThatIsWrittenWhileAnEditorTakesItOrLetsItGo(t *testing.T) {
	t.Parallel()
	const base, touched, written = "1\n2\n3\n", "A\n2\n3\n", "A\n2\nB\n"
	steps := []string{"nothing", "holds", "takes", "releases"}
	for _, earlier := range []bool{false, true} {
		for _, first := range steps[:2] {
			for _, meanwhile := range steps {
				for _, then := range steps {
					t.Run(fmt.Sprintf("touched %v, %s, %s, %s", earlier, first, meanwhile, then), func(t *testing.T) {
						t.Parallel()
						r := newRig(t, "f", base)
						path, disk, buffer, held := r.path("f"), base, base, false
						a := r.turn("s")
						a.Source = "write"
						write := func(text string) {
							disk = text
							r.must(replace(path, text))
						}
						does := func(step string) {
							switch was := buffer; {
							case step == "holds" && !held:
								held = true
								r.must(r.Hold(path, Text{Text: buffer}))
							case step == "takes" && !held:
								held, buffer = true, disk
								r.Taken(unnoticed(a), false, Told{Path: path, Before: &was, After: &disk})
								r.must(r.Hold(path, Text{Text: disk}))
							case step == "releases" && held:
								held = false
								r.Release(path)
							}
						}
						does(first)
						if earlier {
							write(touched)
						}
						r.must(r.Write(a, path, written, func() error {
							does(meanwhile)
							write(written)
							does(then)
							return nil
						}))
						r.wait()
						if held {
							if _, now, _ := r.Review().Known("f"); now.Text != buffer {
								t.Errorf("the review has %q, the buffer %q", now.Text, buffer)
							}
							if buffer != disk {
								by := r.Awaited(path)
								if by == nil {
									t.Fatalf("the editor has %q and is not asked to look", buffer)
								}
								r.OnDisk(path, disk)
								r.must(r.Changed(*by, path, &buffer, disk))
							}
						}
						if base, now, _ := r.Review().Known("f"); base.Text != "1\n2\n3\n" || now.Text != written {
							t.Errorf("base %q, now %q", base.Text, now.Text)
						}
						plan, err := r.Reject(review.Selection{Path: "f"}, false)
						r.must(err)
						r.must(r.Apply(plan, func(review.Change) error { return nil }))
						r.is()
					})
				}
			}
		}
	}
}
