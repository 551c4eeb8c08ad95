package process

import "context"

// Auto runs commands in a sandbox where what they reach is asked about, and elsewhere as Local
// does: a sandbox without questions only fails.
type Auto struct {
	Sandbox *Sandbox
	Dir     string // of the session
}

// chosen is the backend that runs the next command.
func chosen(ctx context.Context, b Backend) Backend {
	if a, ok := b.(Auto); ok {
		if lacks, err := a.Lacks(ctx); err == nil && lacks == "" {
			return a.Sandbox
		}
		return Local{}
	}
	return b
}

// Lacks says why commands do not run in the sandbox, "" if they do.
func (a Auto) Lacks(ctx context.Context) (string, error) {
	lacks, err := a.Sandbox.Asks(ctx)
	if err == nil && lacks == "" && a.Dir != "" {
		err = a.Sandbox.accepts(a.Dir)
	}
	return lacks, err
}

// Command is that of the chosen backend.
func (a Auto) Command(ctx context.Context, id string, c Command) ([]string, string, error) {
	return chosen(ctx, a).Command(ctx, id, c)
}

// End does nothing: the command is a process of this machine.
func (Auto) End(string) {}

// Ended forgets a command.
func (a Auto) Ended(id string) { a.Sandbox.Ended(id) }

// Reach is that of the chosen backend.
func (a Auto) Reach(ctx context.Context) Reach { return chosen(ctx, a).Reach(ctx) }

// Close ends the questions.
func (a Auto) Close() error { return a.Sandbox.Close() }
