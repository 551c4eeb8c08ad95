package project

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// days plays what happens to the files of a project on a real disk: two agents in shims, whose
// reports come late and in the order of each, a user outside, looks, and a second program that
// wants the project and gets it when the first one ends. It is the judge as well: it knows of each
// line whether it is there after everything is rejected.
type days struct {
	*rig
	rand    *rand.Rand
	agents  [2]*supervised
	reports [2][]feed.Report // on their way
	told    [2][]feed.Report
	tell    func(feed.Report)
	files   [2][]line
	fresh   int
	log     []string
}

// line is a line of a file. The lines of agents begin with "a".
type line struct {
	text    string
	removed bool // by an agent, so that a rejection brings it back
}

func (w *days) name(i int) string { return string(rune('f' + i)) }

// edit changes some lines of a file, for the user or an agent, and returns the text.
func (w *days) edit(i int, agent bool) string {
	who := "u"
	if agent {
		who = "a"
	}
	for n := range 1 + w.rand.IntN(3) {
		lines := w.files[i]
		at := w.rand.IntN(len(lines) + 1)
		switch {
		case n == 0 || w.rand.IntN(2) == 0:
			w.fresh++
			w.files[i] = slices.Insert(lines, at, line{text: fmt.Sprint(who, w.fresh, "\n")})
		case at == len(lines) || lines[at].removed:
		case agent && !strings.HasPrefix(lines[at].text, "a"):
			lines[at].removed = true
		default:
			w.files[i] = slices.Delete(lines, at, at+1)
		}
	}
	var b strings.Builder
	for _, l := range w.files[i] {
		if !l.removed {
			b.WriteString(l.text)
		}
	}
	w.log = append(w.log, fmt.Sprintf("%s makes %s %q", who, w.name(i), b.String()))
	return b.String()
}

// hear has the next reports of an agent come.
func (w *days) hear(agent, n int) {
	for _, report := range w.reports[agent][:n] {
		w.log = append(w.log, fmt.Sprintf("report %d of agent %d", report.Seq, agent))
		w.tell(report)
	}
	w.told[agent] = append(w.told[agent], w.reports[agent][:n]...)
	w.reports[agent] = w.reports[agent][n:]
}

// hearAll has all reports come, in the order in which the changes happened.
func (w *days) hearAll() {
	for len(w.reports[0])+len(w.reports[1]) > 0 {
		first := 0
		if len(w.reports[0]) == 0 || len(w.reports[1]) > 0 && w.reports[1][0].At.Before(w.reports[0][0].At) {
			first = 1
		}
		w.hear(first, 1)
	}
	w.wait()
}

func (w *days) step() {
	i := w.rand.IntN(len(w.files))
	switch w.rand.IntN(12) {
	case 0, 1, 2:
		w.write(w.name(i), w.edit(i, false))
	case 3, 4, 5, 6:
		agent := w.rand.IntN(len(w.agents))
		text := w.edit(i, true)
		w.reports[agent] = append(w.reports[agent], w.agents[agent].changes(w.name(i), &text))
	case 7, 8:
		agent := w.rand.IntN(len(w.agents))
		w.hear(agent, w.rand.IntN(len(w.reports[agent])+1))
	case 9, 10:
		w.log = append(w.log, "a look at "+w.name(i))
		w.noticesFile(w.name(i))
	case 11:
		if _, err := Open(w.state, w.root, w.opts); !errors.As(err, new(*store.LockedError)) {
			w.t.Errorf("a second program has the project, too: %v", err)
		}
		w.hearAll()
		w.log = append(w.log, "the second program has the project")
		w.deafen()
		if w.rand.IntN(2) == 0 { // a crash: how far it has heard is not stored, and all comes again
			w.store.Save(feedCache, nil)
		}
		w.must(w.Close())
		w.begin()
		if w.rand.IntN(2) == 0 {
			w.wait()
		}
		w.listen()
	}
}

// listen starts to take reports. The reports that the journals already hold come before, or at
// the same time. Then the agents go on with the reports that the program does not know yet.
func (w *days) listen() {
	w.tell = w.rig.tell()
	if w.rand.IntN(2) == 0 {
		w.must(w.Replayed(patience.Context(w.t, patience.Soon)))
	}
	ctx := patience.Context(w.t, patience.Soon)
	c, err := feed.Dial(ctx, feed.Path(store.Dir(w.state, w.root)))
	w.must(err)
	defer c.Close()
	for i, told := range w.told {
		known, err := c.Resume(ctx, "shim "+w.agents[i].agent)
		w.must(err)
		for _, report := range told {
			if report.Seq > known {
				w.tell(report)
			}
		}
	}
}

// TestDaysOfAProjectEndWithWhatTheUserDid is the property of reports, looks and writes outside on a
// real disk: when everything is rejected, each line of the user and of before is there once, and no
// line of an agent.
func TestDaysOfAProjectEndWithWhatTheUserDid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(soak.Of(t, 1000, 30)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &days{rig: newRig(t, "f", "u1\nu2\nu3\n", "g", "u4\n"), rand: rand.New(rand.NewPCG(seed, 7)), fresh: 4}
			w.files = [2][]line{{{text: "u1\n"}, {text: "u2\n"}, {text: "u3\n"}}, {{text: "u4\n"}}}
			w.agents = [2]*supervised{w.shim("a"), w.shim("b")}
			w.listen()
			for range 20 {
				w.step()
			}
			w.hearAll()
			for i := range w.files {
				w.noticesFile(w.name(i))
			}
			plan, err := w.Reject(review.Selection{}, true)
			if err == nil {
				err = w.Apply(plan, nil)
			}
			if err != nil && !errors.Is(err, review.ErrNothing) {
				t.Error(err)
			}
			for i, lines := range w.files {
				var want []string
				for _, l := range lines {
					if !strings.HasPrefix(l.text, "a") {
						want = append(want, l.text)
					}
				}
				text, err := os.ReadFile(w.path(w.name(i)))
				got := slices.Sorted(strings.Lines(string(text)))
				if slices.Sort(want); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s has %q, %v; want %q", w.name(i), got, err, want)
				}
			}
			if t.Failed() {
				t.Log(strings.Join(w.log, "\n"))
			}
		})
	}
}
