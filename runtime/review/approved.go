package review

import "slices"

// AcceptApproved accepts hunks that the user approved before the change that made them.
// before is the state of the file then, and approved the new text that the user was shown.
// by names the session, turn and tool call that must have made the change. A hunk is
// accepted only if it is one of the hunks that turn before into approved, whole and to the
// byte. The rest of the change stays pending. It reports whether any hunk was accepted.
func (r *Review) AcceptApproved(path string, change ChangeID, by Author, before State, approved string) (accepts bool, err error) {
	err = r.locked(func() error {
		f, a := r.files[path], r.authors[change]
		switch {
		case f == nil || f.claimed || f.current().Kind != Regular || before.Kind != Regular && before.Kind != Absent:
			return nil
		case a.Inferred || a.ToolCall == "" || a.Session != by.Session || a.Turn != by.Turn || a.ToolCall != by.ToolCall:
			return nil
		}
		hunks := r.pendingOf(f)
		shown := f.text.shown(before, approved)
		now, act := f.file, r.acts+1
		for _, h := range hunks {
			if len(h.changes) == 1 && h.changes[0] == change && shown(h) {
				now = now.decide(choice{hunk: h.id, change: func(id ChangeID) bool { return id == change }}, accepted, act)
				accepts = true
			}
		}
		if !accepts {
			return nil
		}
		r.acts = act
		r.decided(path, f, now)
		return r.save(path, f)
	})
	return accepts, err
}

// shown returns a function that reports whether a hunk is one of the hunks that turn a
// state into a text.
func (w weave) shown(before State, text string) func(rawHunk) bool {
	old, lines, current := split(before.Text), split(text), w.lines(0, w.sum.current)
	approved, made := diff(old, lines), diff(old, current)
	return func(h rawHunk) bool {
		switch {
		case h.kind == Created:
			return before.Kind == Absent && text == "" && len(current) == 0
		case h.kind != Text || len(h.user) > 0 || len(h.others) > 0:
			return false
		}
		i := slices.IndexFunc(made, func(s span) bool { return s.b0 == h.current0 && s.b1 == h.current1 })
		return i >= 0 && slices.ContainsFunc(approved, func(s span) bool {
			return s.a0 == made[i].a0 && s.a1 == made[i].a1 && slices.Equal(old[s.a0:s.a1], h.old) && slices.Equal(lines[s.b0:s.b1], h.new)
		})
	}
}
