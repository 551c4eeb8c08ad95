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

	plugin, empty neovim.Startup
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
	e := &editor{version: strings.TrimPrefix(first, "NVIM ")}
	if e.plugin, e.empty, err = neovim.MeasureStartup(context.Background(), path, "..", neovimStarts); err != nil {
		return nil, err
	}
	e.results, err = neovim.Measure(context.Background(), path, "..", neovim.Cases, rounds)
	return e, err
}

// start is the best of all runs of a client before its case begins.
func (e *editor) start(client int) neovim.Result {
	best := *e.results[0][client]
	for _, c := range e.results[1:] {
		r := c[client]
		best.Setup, best.Connected = min(best.Setup, r.Setup), min(best.Connected, r.Connected)
		best.Ready, best.Again = min(best.Ready, r.Ready), min(best.Again, r.Again)
	}
	return best
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
	p.printf("\nAt 500 updates a second, half of them reach the listener of Hermes within %s and 99%% within %s; in plain Lua %s and %s.\n\n", millis(ours.Percentile(50)), millis(ours.Percentile(99)), millis(plain.Percentile(50)), millis(plain.Percentile(99)))
	p.startup()
}

// startup is what a user waits for before anything can be done.
func (p *page) startup() {
	e := p.editor
	ours, plain := e.start(0), e.start(1)
	p.printf("### Start-up\n\nThe plugin file is measured as `--startuptime` reports it, in %d starts, in turns with an empty file, which is the least that any plugin costs. Everything else is measured in new Neovims, once in each, and the best of %d counts. No module of Hermes has been loaded there and no host runs, but the files are in the memory of the system: it is what a user has who starts Neovim again. The last row is a second agent, for which the host already runs.\n\n", neovimStarts, neovimRounds*len(neovim.Cases))
	p.printf("| | Hermes | |\n|---|--:|---|\n")
	for _, row := range []struct{ name, time, beside string }{
		{"plugin file", millis(e.plugin.Best), fmt.Sprintf("median %s; an empty file: %s, median %s", millis(e.plugin.Median), millis(e.empty.Best), millis(e.empty.Median))},
		{"`require(\"hermes\").setup()` with two agents", millis(ours.Setup), ""},
		{"until `connect()` returns", millis(ours.Connected), ""},
		{"from `connect()` until the agent is ready", millis(ours.Ready), fmt.Sprintf("plain Lua: %s", millis(plain.Ready))},
		{"the same with the host running", millis(ours.Again), ""},
	} {
		p.printf("| %s | %s | %s |\n", row.name, row.time, row.beside)
	}
	p.printf("\n")
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
	load, plainLoad, _ := p.editor.of(neovim.Load)
	most("Neovim, "+neovim.Cases[neovim.Load].Name+", CPU of Neovim", plainLua, load.CPU, plainLoad.CPU, 1.4)
	start := p.editor.start(0)
	below := func(text string, ms, limit float64) {
		goal(fmt.Sprintf("%s below %v ms", text, limit), millis(ms), ms < limit)
	}
	below("Neovim, plugin file:", p.editor.plugin.Best, 0.05)
	below("Neovim, `connect()` returns:", start.Connected, 1)
	below("Neovim, agent ready:", start.Ready, 12)
}
