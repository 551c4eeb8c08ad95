package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Side is one end of a connection.
type Side uint8

// The sides.
const (
	Agent Side = iota
	Client
)

func (s Side) String() string {
	if s == Client {
		return "client"
	}
	return "agent"
}

// out is the direction of the messages that a side sends.
func (s Side) out() Direction {
	if s == Client {
		return ToAgent
	}
	return ToClient
}

// peer is the other side.
func (s Side) peer() Side { return 1 - s }

// PlayOptions configure Play. The zero value plays the agent, without pauses.
type PlayOptions struct {
	Side Side
	// Cwd is the folder in which a played client opens its sessions. Empty: the
	// recorded one.
	Cwd string
	// Speed is how fast time passes: 1 as recorded, 10 ten times as fast; 0
	// leaves all pauses out.
	Speed float64
	// Wait bounds how long the peer may take for an expected message; 0: no bound.
	Wait time.Duration
	// OnStderr is called with the lines of the agent's standard error, at their
	// places in the recording.
	OnStderr func(line []byte)
	// OnDifference is called with differences that do not end the play: an answer
	// is an error and was not one in the recording, or the reverse.
	OnDifference func(text string)
}

// MismatchError says where a peer deviated from the recording.
type MismatchError struct {
	File string
	Line int    // of what was expected; 0 when the recording has ended
	Want string // what that is: a message, or the end of the recording
	Got  string // what happened
}

func (e *MismatchError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: the recording has ended, but %s", e.File, e.Got)
	}
	return fmt.Sprintf("%s:%d: expected %s, but %s", e.File, e.Line, e.Want, e.Got)
}

// Play plays one side of a recording over t, and closes t at the end. It returns
// nil when everything was sent and the peer has closed the connection. A played
// client closes it itself, and so does a played agent whose recording ends before
// an answer.
//
// Play matches the messages of the peer by method and order, not by params: its
// requests and, if it is a client, its notifications. A message is sent only after
// everything that precedes it in the recording. Play maps the ids of requests, the
// ids of sessions and terminals that the peer chooses and, for an agent, the
// working directory of the session, so that the paths in the recording become
// paths of the live session. Notifications of an agent need not match the
// recording, because models never write the same text twice.
//
// If the peer deviates, it gets an error and Play returns a *MismatchError.
func Play(ctx context.Context, t transport.Transport, rec *Recording, o PlayOptions) error {
	p := &player{PlayOptions: o, t: t, name: rec.Name, cues: script(rec.Records, o.Side), heard: make(chan heard)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.listen(ctx)
	}()
	stop := context.AfterFunc(ctx, func() { t.Close() })
	defer stop()
	err := p.play(ctx)
	if e := ctx.Err(); e != nil {
		err = e
	}
	t.Close()
	cancel()
	<-done
	return err
}

// heard is a message of the peer, or the end of the connection.
type heard struct {
	msg []byte
	err error
}

type player struct {
	PlayOptions
	t     transport.Transport
	name  string
	cues  []*cue
	at    int // cues before it are done
	subst substitutions
	heard chan heard
	gone  bool // the peer has closed the connection
	why   error
}

// listen reads the messages of the peer.
func (p *player) listen(ctx context.Context) {
	for {
		msg, err := p.t.Read(nil)
		var tooLarge *transport.TooLargeError
		if errors.As(err, &tooLarge) {
			continue // play will report it as missing
		}
		for _, h := range []heard{{msg: msg}, {err: err}} {
			if len(h.msg) == 0 && h.err == nil {
				continue
			}
			select {
			case p.heard <- h:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// play plays the cues in order.
func (p *player) play(ctx context.Context) error {
	if p.Side == Client {
		p.moveTo(p.Cwd)
	}
	var last time.Time
	for p.at = 0; p.at < len(p.cues); p.at++ {
		c := p.cues[p.at]
		if c.ours {
			if err := p.pause(ctx, last, c.Time); err != nil {
				return err
			}
			if err := p.say(c); err != nil {
				return err
			}
		} else if err := p.await(ctx, c); err != nil {
			return err
		}
		last = c.Time
	}
	if p.Side == Client {
		return nil
	}
	for !p.gone && !p.owes() { // an agent stays until its client leaves
		if err := p.hear(ctx, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// owes reports whether a request of the peer has no answer in the recording. Such
// a recording ends too early, for example because the agent died, and the peer
// would wait forever.
func (p *player) owes() bool {
	answered := map[*cue]bool{}
	for _, c := range p.cues {
		if c.kind == response && c.request != nil {
			answered[c.request] = true
		}
	}
	return slices.ContainsFunc(p.cues, func(c *cue) bool { return !c.ours && c.kind == request && c.done && !answered[c] })
}

// moveTo maps the working directory of the first recorded session.
func (p *player) moveTo(dir string) {
	for _, c := range p.cues {
		if cwd := member(c.Params, "cwd"); c.ours && c.kind == request && cwd != "" && dir != "" {
			p.subst.path(cwd, dir)
			return
		}
	}
}

// pause waits for the time between two records, and handles the messages that
// arrive meanwhile.
func (p *player) pause(ctx context.Context, from, to time.Time) error {
	if p.Speed <= 0 || from.IsZero() || !to.After(from) {
		return nil
	}
	timer := time.NewTimer(time.Duration(float64(to.Sub(from)) / p.Speed))
	defer timer.Stop()
	for over := false; !over; {
		if err := p.hear(ctx, timer.C, &over); err != nil {
			return err
		}
	}
	return nil
}

// say sends the message of a cue of ours.
func (p *player) say(c *cue) error {
	if c.Direction == Stderr {
		if p.OnStderr != nil {
			p.OnStderr(c.Bytes)
		}
		return nil
	}
	msg := p.subst.apply(c.Bytes)
	if c.kind == response && c.request != nil {
		msg = replaceID(msg, c.request.live)
	}
	c.done = true
	if err := p.t.Write(msg); err != nil {
		p.leave(err)
	}
	return nil
}

// leave notes that the peer is gone. This matters only if the peer still has to
// send something.
func (p *player) leave(err error) {
	if p.gone = true; p.why == nil {
		p.why = err
	}
}

// await waits until the peer has sent what c expects.
func (p *player) await(ctx context.Context, c *cue) error {
	var late <-chan time.Time
	if p.Wait > 0 {
		timer := time.NewTimer(p.Wait)
		defer timer.Stop()
		late = timer.C
	}
	for over := false; !c.done; {
		if p.gone {
			return p.mismatch(c, fmt.Sprintf("the %s is gone: %v", p.Side.peer(), p.why))
		}
		if err := p.hear(ctx, late, &over); err != nil {
			return err
		}
		if over && !c.done {
			return p.mismatch(c, fmt.Sprintf("nothing came for %v", p.Wait))
		}
	}
	return nil
}

func (p *player) mismatch(c *cue, got string) error {
	e := &MismatchError{File: p.name, Want: "the end of the recording", Got: got}
	if c != nil {
		e.Line, e.Want = c.Line, c.String()
	}
	return e
}

// hear handles one message of the peer, or sets over if the time is up first.
func (p *player) hear(ctx context.Context, time <-chan time.Time, over *bool) error {
	if p.gone {
		select {
		case <-time:
			*over = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time:
		*over = true
		return nil
	case h := <-p.heard:
		if h.err != nil {
			p.leave(h.err)
			return nil
		}
		return p.take(h.msg)
	}
}

// take finds the cue for a message of the peer.
func (p *player) take(msg []byte) error {
	m := parse(msg)
	switch m.kind {
	case noise:
		return nil // the line is not a message
	case response:
		return p.answer(m, msg)
	case notification:
		if p.Side == Client || len(m.Method) > 1 && m.Method[:2] == "$/" {
			return nil
		}
	}
	c, next := p.find(m)
	if c == nil {
		got := fmt.Sprintf("the %s sent %s", p.Side.peer(), m.describe())
		err := p.mismatch(next, got)
		if m.kind == request {
			p.t.Write(errorAnswer(m.ID, err.Error()))
		}
		return err
	}
	c.done, c.live = true, m.ID
	if p.Side == Agent && (m.Method == "session/new" || m.Method == "session/load" || m.Method == "session/resume") {
		p.subst.path(member(c.Params, "cwd"), member(m.Params, "cwd"))
	}
	return nil
}

// find returns the first cue that m can be. It cannot skip a cue whose answer is
// before m in the recording, because m may have been sent because of that answer.
func (p *player) find(m *message) (found, next *cue) {
	var owed []*cue
	for _, c := range p.cues[p.at:] {
		for _, o := range owed {
			if c.kind == response && c.request == o {
				return nil, owed[0]
			}
		}
		if c.ours || c.done || c.kind == response {
			continue
		}
		if c.kind == m.kind && c.Method == m.Method {
			return c, nil
		}
		owed = append(owed, c)
	}
	if len(owed) > 0 {
		return nil, owed[0]
	}
	return nil, nil
}

// answer handles the peer's answer to a request of ours.
func (p *player) answer(m *message, msg []byte) error {
	for i := p.at; i >= 0; i-- {
		if i == len(p.cues) {
			continue
		}
		c := p.cues[i]
		if !c.ours || c.kind != request || !c.done || c.answered || string(c.ID) != string(m.ID) {
			continue
		}
		c.answered = true
		a := c.answer
		if a == nil {
			return nil
		}
		a.done = true
		if (a.Error == nil) != (m.Error == nil) {
			got := fmt.Sprintf("the answer to %s is %s", c.Method, m.outcome())
			if p.Side == Client {
				return p.mismatch(a, got)
			}
			if p.OnDifference != nil {
				p.OnDifference(p.mismatch(a, got).Error())
			}
			return nil
		}
		for _, name := range []string{"sessionId", "terminalId"} {
			p.subst.value(member(a.Result, name), member(m.Result, name))
		}
		return nil
	}
	if p.OnDifference != nil {
		p.OnDifference(fmt.Sprintf("%s: the %s answers a request that was not sent: %.200s", p.name, p.Side.peer(), msg))
	}
	return nil
}
