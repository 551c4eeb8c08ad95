package claudehooks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

// The oldest versions of Claude Code that can be used. Older ones refuse the settings,
// or have no hooks that deny when they fail.
var (
	oldest       = []int{2, 1, 78}
	oldestClosed = []int{2, 1, 295}
)

var versionNumber = lazyregexp.New(`^(\d+)\.(\d+)\.(\d+)`)

// Check reports why the installed Claude Code cannot be used.
func (o Options) Check(ctx context.Context) error {
	if o.Installed == nil {
		return nil
	}
	line, err := o.Installed(ctx)
	if err != nil {
		return acp.Errorf(acp.ErrorCodeInternalError, "claude: %v", err)
	}
	want, why := oldest, "for HTTP hooks"
	if o.closed() {
		want, why = oldestClosed, "for a gate that denies what it cannot ask about"
	}
	found := versionNumber().FindStringSubmatch(strings.TrimSpace(line))
	if found == nil {
		return acp.Errorf(acp.ErrorCodeInternalError, "claude --version printed %.60q, not a version", line)
	}
	var have []int
	for _, n := range found[1:] {
		i, _ := strconv.Atoi(n)
		have = append(have, i)
	}
	if slices.Compare(have, want) < 0 {
		return acp.Errorf(acp.ErrorCodeInternalError, "Claude Code %s is too old: %s it takes %s", found[0], why, dotted(want))
	}
	return nil
}

func dotted(v []int) string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// closed reports whether a tool call is denied when nobody could be asked.
func (o Options) closed() bool { return o.Gate && !o.FailOpen }
