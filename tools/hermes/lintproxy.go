package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
	"github.com/hermes-nvim/hermes/tools/hermes/live"
)

// lintLive are the subcommands of hermes lint.
var lintLive = map[string]func(ctx context.Context, args []string, std *stdio) error{
	"baseline": lintBaseline,
	"diff":     lintDiff,
	"proxy":    lintProxy,
	"run":      lintRun,
	"agent":    lintAgent,
}

// liveFlags are what these subcommands have in common.
type liveFlags struct {
	lintOutput
	lintJudgement
	record string
	raw    bool
}

func (o *liveFlags) flags(f flags, recordFlag, reportFlag string) {
	o.lintJudgement.flags(f.FlagSet)
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the report: "+formatList(func(l lintFormat) string { return l.name }))
	f.IntVar(&o.max, "max", 5, "show at most `N` findings of each rule; 0 shows all")
	f.Var(&o.files, reportFlag, "write the report to `FILE`, whose extension says the format: "+formatList(func(l lintFormat) string { return l.extension })+"; may be repeated")
	f.StringVar(&o.record, recordFlag, "", "write a recording to `FILE`")
	f.BoolVar(&o.raw, "raw", false, "keep secrets in the recording")
}

// ready checks the flags and reads the configuration. The options are for the judgement
// of what has a name.
func (o *liveFlags) ready(name string) (lint.Options, error) {
	if err := o.read(nil); err != nil {
		return lint.Options{}, err
	}
	options := o.options(name)
	options.Whole = true
	return options, o.check()
}

// timeline lets a judgement collect the conversation, if a report shows it; otherwise it
// returns nil.
func (o *liveFlags) timeline(options *lint.Options) *report.Conversation {
	if !o.uses("html") {
		return nil
	}
	conversation := new(report.Recorder).Conversation()
	options.Watch = conversation.Watch
	return conversation
}

// recorded starts the recording that was asked for; nil without one.
func (o *liveFlags) recorded(program string, argv []string) (*trace.Writer, error) {
	if o.record == "" {
		return nil, nil
	}
	cwd, _ := os.Getwd() // for the reader of the recording only
	meta := trace.Meta{Program: program, Version: version, Command: argv, Cwd: cwd}
	if len(argv) > 0 {
		meta.Agent = filepath.Base(argv[0])
	}
	return trace.Create(o.record, trace.Options{Raw: o.raw, Transport: "stdio", Meta: meta})
}

// tell writes the reports to the files, or else to w.
func (o *liveFlags) tell(w io.Writer, all report.Outcome) error {
	if len(o.files) == 0 {
		return lintFormatOf(func(l lintFormat) bool { return l.name == o.format }).write(w, all, &o.lintOutput)
	}
	for _, name := range o.files {
		if err := writeReport(name, func(w io.Writer) error { return formatOfFile(name).write(w, all, &o.lintOutput) }); err != nil {
			return err
		}
	}
	return nil
}

const lintProxySynopsis = `[FLAG...] -- AGENT [ARGUMENT...]

Runs an agent for a client that starts this as its agent, passes every byte on
unchanged and at once, and judges both sides. The report comes when the agent has
ended. The exit status is that of the agent; if that is 0, it is 1 when something
was found at the severity of --fail-on.
`

// lintProxy judges a client and an agent that talk through it.
func lintProxy(_ context.Context, args []string, std *stdio) error {
	args, argv := splitCommand(args)
	f := newFlags("lint proxy", lintProxySynopsis, std.out)
	var o liveFlags
	o.flags(f, "out", "report")
	broken := &faults{}
	f.Var(broken, "fault", faultUsage)
	if rest, err := f.parse(args); err != nil {
		return err
	} else if len(rest) > 0 || len(argv) == 0 {
		return usageError("the agent's command is missing after --: hermes lint proxy -- AGENT [ARGUMENT...]")
	}
	name := filepath.Base(argv[0])
	options, err := o.ready(name)
	if err != nil {
		return err
	}
	recording, err := o.recorded("hermes lint proxy", argv)
	if err != nil {
		return err
	}
	w := newWatched(recording, options, broken, o.timeline)
	err = proxy(proxied{recorder: w, faults: broken}, argv, std)
	judged, e := w.close()
	if e != nil {
		fmt.Fprintf(std.err, "hermes lint proxy: %s is not complete: %s\n", oneLine(o.record), oneLine(e.Error()))
	}
	for i := range judged {
		o.judged(judged[i].Report, name)
	}
	all := o.outcome(judged)
	if err != nil { // the exit status is the agent's
		all.Status, all.Why = agentStatus(err)
	}
	if e := o.tell(std.err, all); e != nil {
		fmt.Fprintf(std.err, "hermes lint proxy: no report: %s\n", oneLine(e.Error()))
	}
	if err == nil {
		return exitOf(all, nil)
	}
	return passOn(err)
}

// watched records and judges what passes through a proxy. On a broken line the two ends
// see different messages. Then each side is judged by what it sent and what reached it,
// and the recording has the messages as sent.
type watched struct {
	recording *trace.Writer // may be nil
	ends      [lint.Agent + 1]*live.Judge
	timelines [lint.Agent + 1]*report.Conversation
}

func newWatched(recording *trace.Writer, o lint.Options, broken *faults, timeline func(*lint.Options) *report.Conversation) *watched {
	w := &watched{recording: recording}
	if len(broken.list) == 0 {
		w.timelines[lint.Agent] = timeline(&o)
		j := live.NewJudge(o, lint.Nobody)
		w.ends[lint.Client], w.ends[lint.Agent] = j, j
		return w
	}
	if accept := o.Accept; accept != nil { // the two are judged at the same time
		var mu sync.Mutex
		o.Accept = func(f *lint.Finding) bool {
			mu.Lock()
			defer mu.Unlock()
			return accept(f)
		}
	}
	for _, side := range []lint.Party{lint.Client, lint.Agent} {
		w.timelines[side] = timeline(&o)
		w.ends[side] = live.NewJudge(o, side)
	}
	broken.got = func(way trace.Direction, r lint.Record) {
		r.From = sender(way)
		w.ends[r.From.Peer()].Add(r)
	}
	broken.closed = func(way trace.Direction) {
		from := sender(way)
		w.ends[from.Peer()].Add(lint.Record{Source: lint.End, From: from})
		w.ends[from].Add(lint.Record{Source: lint.End, From: from.Peer()})
	}
	broken.born = func() { // the client does not see it; the agent has not chosen it
		w.ends[lint.Agent].Add(lint.Record{Source: lint.End, From: lint.Client})
		w.ends[lint.Agent].Add(lint.Record{Source: lint.Beginning})
		if w.recording != nil {
			w.recording.Restart()
		}
	}
	return w
}

func sender(way trace.Direction) lint.Party {
	if way == trace.ToAgent {
		return lint.Client
	}
	return lint.Agent
}

// both adds a record that both ends see.
func (w *watched) both(r lint.Record) {
	w.ends[lint.Agent].Add(r)
	if w.ends[lint.Client] != w.ends[lint.Agent] {
		w.ends[lint.Client].Add(r)
	}
}

// Message implements recorder.
func (w *watched) Message(d trace.Direction, b []byte) error {
	w.ends[sender(d)].Add(lint.Record{From: sender(d), Bytes: b})
	if w.recording == nil {
		return nil
	}
	return w.recording.Message(d, b)
}

// CutMessage implements recorder.
func (w *watched) CutMessage(d trace.Direction, b []byte) error {
	w.ends[sender(d)].Add(lint.Record{From: sender(d), Bytes: b, Cut: true})
	if w.recording == nil {
		return nil
	}
	return w.recording.CutMessage(d, b)
}

// Line implements recorder.
func (w *watched) Line(b []byte) error {
	w.both(lint.Record{Source: lint.Stderr, From: lint.Agent, Bytes: b})
	if w.recording == nil {
		return nil
	}
	return w.recording.Line(b)
}

// Note implements recorder.
func (w *watched) Note(format string, args ...any) error {
	if w.recording == nil {
		return nil
	}
	return w.recording.Note(format, args...)
}

// End implements recorder.
func (w *watched) End(d trace.Direction) error {
	w.both(lint.Record{Source: lint.End, From: sender(d)})
	if w.recording == nil {
		return nil
	}
	return w.recording.End(d)
}

// close ends the judgement.
func (w *watched) close() (reports []report.File, err error) {
	if w.recording != nil {
		err = w.recording.Close()
	}
	if w.ends[lint.Client] == w.ends[lint.Agent] {
		return []report.File{{Name: "line", Report: w.ends[lint.Agent].Report(), Conversation: w.timelines[lint.Agent]}}, err
	}
	for _, side := range []lint.Party{lint.Client, lint.Agent} {
		reports = append(reports, report.File{Name: "what the " + side.String() + " did on the broken line", Report: w.ends[side].Report(), Conversation: w.timelines[side]})
	}
	return reports, err
}
