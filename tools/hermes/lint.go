package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/policy"
)

// lintFlags are what the user chose.
type lintFlags struct {
	lintOutput
	lintJudgement
	explain, protocol, beyond string
	list                      bool
}

const lintSynopsis = `[FLAG...] [FILE...]
       hermes lint baseline|diff|proxy|run|agent -h

baseline writes what was found, so that the next report has only what is new. diff says what two captures do differently, proxy judges a client and an agent that
talk through it, run drives an agent, and agent plays one for a client.
`

// lintCaptures judges captures of traffic.
func lintCaptures(ctx context.Context, args []string, std *stdio) error {
	if len(args) > 0 && lintLive[args[0]] != nil {
		return lintLive[args[0]](ctx, args[1:], std)
	}
	f := newFlags("lint", lintSynopsis, std.out)
	var o lintFlags
	o.lintJudgement.flags(f.FlagSet)
	o.lintOutput.flags(f.FlagSet)
	f.StringVar(&o.protocol, "protocol", "", "`VERSION` of captures without initialize: 1, 2, or 2a for the draft of August 2026, which is then also version 2 of others")
	f.StringVar(&o.beyond, "beyond", "", "a capture of the other side of the proxy in the capture: from between the proxy and its agent, `FILE`")
	f.BoolVar(&o.list, "list", false, "list the rules of the profile")
	f.StringVar(&o.explain, "explain", "", "explain the rule `ID`")
	files, err := f.parse(args)
	if err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return explainRule(std.out, o.explain)
	case o.list:
		if err := o.read(nil); err != nil {
			return err
		}
		return listRules(std.out, o.options(""))
	}
	if err := o.lintOutput.check(); err != nil {
		return err
	}
	version, ok := map[string]lint.Versions{"": 0, "1": lint.V1, "2": lint.V2b, "2a": lint.V2a}[o.protocol]
	if !ok {
		return usageError("protocol %q: want 1, 2 or 2a", o.protocol)
	}
	if len(files) == 0 {
		if isTerminal(std.in) {
			return usageError("no capture: name files, or - for standard input")
		}
		files = []string{"-"}
	}
	if o.beyond != "" && (len(files) > 1 || files[0] == o.beyond) {
		return usageError("--beyond: name one capture of the proxy and its client, and with the flag one of the proxy and its agent")
	}
	if err := o.read(files); err != nil {
		return err
	}
	return lintFiles(ctx, files, version, &o, std)
}

// lintMemory is the memory from which the garbage of giant messages is collected at once,
// in bytes.
const lintMemory = 160 << 20

// lintFiles judges all files that can be read, and then says which could not.
func lintFiles(ctx context.Context, files []string, version lint.Versions, o *lintFlags, std *stdio) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(lintMemory))
	var reports []report.File
	var bad []error
	var recorder report.Recorder
	for _, name := range files {
		options := o.options(name)
		options.Version = version
		var conversation *report.Conversation
		if o.uses("html") {
			conversation = recorder.Conversation()
			options.Watch = conversation.Watch
		}
		r, err := lintFile(ctx, name, o.beyond, options, std.in)
		if ctx.Err() != nil {
			return &exit{statusInterrupted, context.Cause(ctx)}
		}
		judged := report.File{Name: name, Report: &lint.Report{}}
		if r != nil {
			judged = o.judged(r, name)
			judged.Conversation = conversation
		}
		if err != nil {
			judged.Problem = err.Error()
			bad = append(bad, err)
		}
		reports = append(reports, judged)
	}
	all := o.outcome(reports)
	if n := o.before.gone(); n > 0 {
		fmt.Fprintf(std.err, "hermes lint: %d of the findings in %s are gone: write the baseline again to see them when they come back\n", n, oneLine(o.before.file))
	}
	if err := o.write(all, std); err != nil {
		return &exit{statusUsage, err}
	}
	if len(bad) == 0 && all.Status == statusUsage {
		bad = append(bad, errors.New(all.Why))
	}
	return exitOf(all, errors.Join(bad...))
}

// openCapture begins to read a capture; - is standard input. Call end when it is read.
func openCapture(name string, in io.Reader) (r *capture.Reader, end func(), err error) {
	if name == "-" {
		r, err = capture.NewReader(name, in)
		return r, func() { r.Close() }, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if r, err = capture.NewReader(name, file); err != nil {
		file.Close()
		return nil, nil, err
	}
	return r, func() {
		r.Close()
		file.Close()
	}, nil
}

// lintFile judges one capture. Unless beyond is empty, it is the capture of the other
// side of a proxy, and judged together with the first. If there is an error, the report
// is about the messages before it; it is nil if there are none.
func lintFile(ctx context.Context, name, beyond string, o lint.Options, in io.Reader) (*lint.Report, error) {
	r, end, err := openCapture(name, in)
	if err != nil {
		return nil, err
	}
	defer end()
	l := lint.New(o)
	if beyond == "" {
		err = capture.Each(ctx, r, l.Add)
	} else {
		far, end, e := openCapture(beyond, in)
		if e != nil {
			return nil, e
		}
		defer end()
		err = lintProxied(ctx, r, far, l.Add)
	}
	report := l.Report()
	if err != nil && report.Messages == 0 {
		return nil, err
	}
	return report, err
}

func listRules(w io.Writer, o lint.Options) error {
	for _, v := range lint.New(o).Report().Verdicts {
		r := v.Rule
		severity, set := o.Severities[r.ID]
		if !set {
			severity = o.RuleSet.Severity(r)
		}
		fmt.Fprintf(w, "%-6s %-5s %-6s %-7s %s\n", r.ID, severity, r.Side, r.Versions, r.Summary)
	}
	return nil
}

// maxExample bounds a line of an example, in bytes.
const maxExample = 2000

func explainRule(w io.Writer, id string) error {
	r := findRule(strings.ToUpper(id))
	if r == nil {
		return usageError("there is no rule %q (hermes lint --list --profile strict lists them)", id)
	}
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n", r.ID, r.Summary, r.Why)
	fmt.Fprintf(w, "severity  %s\nside      %s\nversions  %s\nstrength  %s\n", r.Severity, r.Side, r.Versions, r.Strength)
	if url := r.URL(r.Versions); url != "" {
		fmt.Fprintf(w, "page      %s\n", url)
	}
	fmt.Fprintf(w, "catalogue %s\n", r.Catalogue())
	if len(r.Requirements) > 0 {
		fmt.Fprintf(w, "acp-tck   %s\n", strings.Join(r.Requirements, ", "))
	}
	for _, part := range []struct {
		title string
		pass  bool
	}{{"A capture that fails", false}, {"A capture that passes", true}} {
		example := lint.Example(r.ID, part.pass)
		if len(example) == 0 {
			continue // a rule about the configuration
		}
		fmt.Fprintf(w, "\n%s:\n\n", part.title)
		c, err := capture.NewReader(r.ID, bytes.NewReader(example))
		if err != nil {
			return err
		}
		for {
			rec, err := c.Next()
			if err != nil {
				break
			}
			fmt.Fprintf(w, "  %s\n", exampleLine(rec))
		}
		c.Close()
	}
	return nil
}

// findRule finds a rule about traffic or about the configuration.
func findRule(id string) *lint.Rule {
	if i := slices.IndexFunc(policy.Rules(), func(r *lint.Rule) bool { return r.ID == id }); i >= 0 {
		return policy.Rules()[i]
	}
	return lint.Find(id)
}

// exampleLine is a record of an example, with an arrow in the direction that it went.
func exampleLine(r lint.Record) string {
	arrow := "client → agent "
	switch {
	case r.Beyond && r.From == lint.Agent:
		arrow = "proxy ← agent  "
	case r.Beyond:
		arrow = "proxy → agent  "
	case r.From == lint.Agent:
		arrow = "client ← agent "
	}
	switch r.Source {
	case lint.End:
		return arrow + "(the " + r.From.String() + " closes the connection)"
	case lint.Stderr:
		arrow = "agent's stderr "
	}
	text := fmt.Sprintf("%.*q", maxExample, r.Bytes)
	if text = text[1 : len(text)-1]; !strings.Contains(text, `\x`) {
		text = oneLine(string(r.Bytes))
	}
	if len(text) > maxExample {
		text = text[:maxExample] + "…"
	}
	return arrow + text
}
