package host

import (
	"os"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/events"
)

func TestAFileIsUnderOneReviewHoweverFoldersAreNested(t *testing.T) {
	t.Parallel()
	for name, folders := range map[string][]string{"the outer one first": {".", "sub"}, "the inner one first": {"sub", "."}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, true)
			if err := os.MkdirAll(d.path("sub/deep"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"f", "sub/f", "sub/deep/f"} {
				d.write(name, "a\nb\n")
			}
			sessions := map[string]string{}
			for _, folder := range folders {
				d.openIn(d.path(folder))
				d.prompt("SAY hello") // the review is open
				sessions[folder] = d.session
			}
			for _, change := range []struct{ folder, file, text string }{
				{"sub", "sub/f", "b"}, {".", "f", "b"}, {"sub", "sub/deep/f", "c"}, {".", "sub/f", "c"},
			} {
				d.session = sessions[change.folder]
				d.prompt("TOUCH " + d.path(change.file) + ` a\nb\n` + change.text + `\n`)
				d.review("files", args{})
			}
			d.settle()
			told := map[string]int{}
			for _, e := range d.seen(events.FileEdited) {
				told[e["path"].(string)]++
			}
			d.is("told", told, map[string]int{d.path("f"): 1, d.path("sub/f"): 2, d.path("sub/deep/f"): 1})
			d.is("pending", len(d.pending()), 3)
			d.review("reject", args{"path": d.path("sub/f")})
			d.is("disk", d.disk("sub/f"), "a\nb\n")
			d.is("pending", len(d.pending()), 2)
		})
	}
}
