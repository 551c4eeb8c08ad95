package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/hermes-nvim/hermes/bench/neovim"
)

// editor is what was measured in a Neovim.
type editor struct {
	version string
	results [][]*neovim.Result // by case, then by client
}

// measureNeovim measures in the Neovim at path, if there is one.
func measureNeovim(path string, rounds int) (*editor, error) {
	if path == "" {
		return nil, nil
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	results, err := neovim.Measure(context.Background(), path, "..", neovim.Cases, rounds)
	return &editor{strings.TrimPrefix(first, "NVIM "), results}, err
}

func (e *editor) of(c int) (hermes, plain, drawing *neovim.Result) {
	return e.results[c][0], e.results[c][1], e.results[c][2]
}

func (p *page) neovim() {
	if p.editor == nil {
		return
	}
	p.printf("## Neovim\n\nHermes in Neovim %s with a screen of 80 by 24, beside a client of the same agent in plain Lua (`bench/neovim/drive.lua`): it splits the agent's output at line breaks, decodes each line and fires an autocommand, without checks, state or pacing. It handles everything that has arrived before it lets Neovim draw, so the third row is the same client with a `:redraw` after each 5 ms of work. In all of them a listener appends the text of each message to the buffer in the window. Each run has a Neovim of its own; best of %d, in turns. The gap is the longest that the event loop of Neovim kept a timer waiting, frozen the longest without a redraw.\n\n", p.editor.version, neovimRounds)
	p.printf("| | | time | CPU of Neovim | memory of Neovim | redraws | gap | frozen |\n|---|---|--:|--:|--:|--:|--:|--:|\n")
	for i, c := range neovim.Cases {
		ours, plain, drawing := p.editor.of(i)
		for _, row := range []struct {
			name string
			r    *neovim.Result
		}{{"Hermes", ours}, {"plain Lua", plain}, {"plain Lua that draws", drawing}} {
			r := row.r
			p.printf("| %s | %s | %s | %s | %.0f MiB | %d | %s | %s |\n", c.Name, row.name, millis(r.Took), millis(r.CPU), float64(r.Peak)/(1<<20), r.Redraws, millis(r.Gap), millis(r.Frozen))
		}
		for _, other := range []struct {
			name string
			r    *neovim.Result
		}{{"plain Lua", plain}, {"plain Lua that draws", drawing}} {
			r := other.r
			p.printf("| | Hermes to %s | **%.2f** | **%.2f** | **%.2f** | | | |\n", other.name, ours.Took/r.Took, ours.CPU/r.CPU, float64(ours.Peak)/float64(r.Peak))
		}
	}
	ours, plain, _ := p.editor.of(neovim.Trickle)
	p.printf("\nAt 500 updates a second, half of them reach the listener of Hermes within %s and 99%% within %s; in plain Lua %s and %s. ", millis(ours.Percentile(50)), millis(ours.Percentile(99)), millis(plain.Percentile(50)), millis(plain.Percentile(99)))
	p.printf("The plugin file takes %s to read, `connect()` returns after %s, and the agent is ready after %s (plain Lua: %s).\n\n", millis(ours.Sourced), millis(ours.Connected), millis(ours.Ready), millis(plain.Ready))
}

func millis(ms float64) string { return duration(ms * 1e6) }

// neovimGoals are about the time that a user waits and the screen moves.
func (p *page) neovimGoals(goal func(text, result string, met bool)) {
	if p.editor == nil {
		return
	}
	small, plainSmall, drawingSmall := p.editor.of(neovim.Small)
	large, plainLarge, drawingLarge := p.editor.of(neovim.Large)
	trickle, plainTrickle, _ := p.editor.of(neovim.Trickle)
	most := func(text, than string, ours, plain, limit float64) {
		goal(fmt.Sprintf("%s: at most %v times %s", text, limit, than), fmt.Sprintf("%.2f", ours/plain), ours <= limit*plain)
	}
	const plainLua, drawing = "plain Lua", "plain Lua that draws"
	most("Neovim, "+neovim.Cases[neovim.Small].Name, plainLua, small.Took, plainSmall.Took, 1.15)
	most("Neovim, "+neovim.Cases[neovim.Small].Name, drawing, small.Took, drawingSmall.Took, 1.15)
	most("Neovim, "+neovim.Cases[neovim.Large].Name, plainLua, large.Took, plainLarge.Took, 1.5)
	most("Neovim, "+neovim.Cases[neovim.Large].Name, drawing, large.Took, drawingLarge.Took, 1.5)
	goal("Neovim, "+neovim.Cases[neovim.Small].Name+": at least 60 redraws", fmt.Sprint(small.Redraws), small.Redraws >= 60)
	gap, ours, plain := 0.0, 0.0, 0.0
	for i := range neovim.Cases {
		a, b, _ := p.editor.of(i)
		gap, ours, plain = max(gap, a.Gap), max(ours, float64(a.Peak)), max(plain, float64(b.Peak))
	}
	goal("Neovim: no gap above 16 ms", millis(gap), gap <= 16)
	goal("Neovim: peak of its memory at most that with plain Lua", fmt.Sprintf("%.2f", ours/plain), ours <= plain)
	most("Neovim, 500 updates a second, CPU of Neovim", plainLua, trickle.CPU, plainTrickle.CPU, 0.6)
}
