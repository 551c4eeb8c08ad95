package special

import (
	"strings"
	"testing"
)

func TestWhatGitKeepsSteersNothing(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"objects/00/11": true, "refs/heads/hooks/x": true, "logs/HEAD": true, "HEAD": true, "ORIG_HEAD": true, "MERGE_MSG": true, "COMMIT_EDITMSG": true,
		"index": true, "index.lock": true, "config.lock": true, "sharedindex.0": true, "packed-refs": true, "packed-refs.new": true, "info/refs": true, "gc.pid": true, "description": true,
		"modules/s/objects/00/11": true, "modules/a/index": true, "modules/a/b/c/objects/00/11": true, "modules/a/b/index.lock": true, "modules/a/b/hooks/x": false, "modules/a/b/config": false, "modules/s/HEAD": true, "worktrees/w/index": true, "worktrees/w/logs/HEAD": true,

		"": false, "hooks": false, "hooks/x": false, "config": false, "config.worktree": false, "commondir": false, "gitdir": false, "info": false,
		"info/exclude": false, "info/attributes": false, "info/sparse-checkout": false, "modules": false, "modules/s": false, "modules/s/config": false,
		"modules/s/hooks/x": false, "modules/a/logs/hooks/x": false, "modules/logs/hooks/x": false, "worktrees/w/commondir": false, "worktrees/w/gitdir": false, "worktrees/w/config.worktree": false,
		"rebase-merge/git-rebase-todo": false, "HEAD/x": false, "x.lock/y": false, "anything": false, "Config": false,
		// Where upper and lower case are equal.
		"CONFIG": false, "HOOKS": false, "HOOKS/X": false, "COMMONDIR": false, "GITDIR": false, "INFO": false, "INFO/EXCLUDE": false, "MODULES": false, "modules/s/objects/CONFIG": false, "modules/s/CONFIG": false,
	} {
		names := strings.Split(name, "/")
		if name == "" {
			names = nil
		}
		if got := GitKeeps(names); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
