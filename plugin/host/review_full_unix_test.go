//go:build unix

package host

import (
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/wire"
)

func init() {
	limitFiles = func(bytes string) {
		if n, err := strconv.ParseUint(bytes, 10, 64); err == nil {
			signal.Ignore(syscall.SIGXFSZ)
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
				panic(err)
			}
		}
	}
}

// The store of the host can write no more than a few KiB, as on a full disk. The
// user gets one notice, works on, and has everything again when there is room.
func TestAReviewThatCannotBeStoredGoesOnAndIsToldOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.stop()
	const rounds = 20
	base := strings.Repeat("line\n", 100)
	d.write("f", base)
	d.write("g", base)
	kill := d.startProcess("host 16384")
	d.open()
	d.prompt("SAY hello")
	text := base
	for i := range rounds {
		text += "agent " + strconv.Itoa(i) + "\n"
		d.prompt("EDIT " + d.path("f") + " " + strings.ReplaceAll(text, "\n", `\n`))
		d.review("files", args{}) // the turn is over
		d.tell("hold", args{"path": d.path("f"), "text": text, "tick": i})
		d.tell("edited", args{"path": d.path("f"), "edits": []any{args{"start": 0, "end": 0, "lines": []string{"mine\n"}}}, "tick": i})
		text = "mine\n" + text
		d.write("f", text)
		d.tell("wrote", args{"path": d.path("f")})
		d.tell("release", args{"path": d.path("f")})
	}
	d.until("notice", func() bool { return len(d.of(wire.KindNotice)) > 0 })
	notices := d.seen(wire.KindNotice)
	if text, _ := notices[0]["message"].(string); len(notices) != 1 || notices[0]["level"] != "error" ||
		!strings.Contains(text, d.root) || !strings.Contains(text, "file too large; free space on that disk") {
		t.Errorf("%v", notices)
	}
	d.prompt("EDIT " + d.path("g") + ` new\n`)
	d.review("files", args{}) // the turn is over
	b := d.review("base", args{"path": d.path("f")})
	if now := b["current"].(map[string]any)["text"]; now != text {
		t.Errorf("the review has %q", now)
	}
	if was := b["base"].(map[string]any)["text"]; was != strings.Repeat("mine\n", rounds)+base {
		t.Errorf("the base is %q", was)
	}
	r := d.review("reject", args{"path": d.path("g")})
	d.is("rejected", r["files"], []any{args{"path": d.path("g")}})
	d.review("accept", args{"path": d.path("f")})
	d.is("disk", d.disk("g"), base)
	d.is("pending", d.pending(), nil)
	d.is("notices", len(d.seen(wire.KindNotice)), 1)
	kill()

	kill = d.startProcess("host") // there is room again: a state that it had, old or new
	defer kill()
	d.review("files", args{"cwd": d.root})
	d.open()
	d.settle()
	b = d.review("base", args{"path": d.path("f")})
	if now := b["current"].(map[string]any)["text"]; now != text || d.disk("f") != text {
		t.Errorf("the review has %q", now)
	}
	// The end of the last turn could not be stored.
	for _, n := range d.seen(wire.KindNotice) {
		if text, _ := n["message"].(string); !strings.Contains(text, "Hermes ended before the turn did") {
			t.Errorf("%v", n)
		}
	}
}
