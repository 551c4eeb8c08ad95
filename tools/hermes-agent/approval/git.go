package approval

import (
	"slices"
	"strings"
)

// gitCommand returns the subcommand of git with its arguments.
func (c *call) gitCommand() *call {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return &call{script: c.script}
	}
	return &call{name: args[0], args: args[1:], script: c.script}
}

func (c *call) gitDiscards() bool {
	g := c.gitCommand()
	paths := slices.ContainsFunc(g.args, func(a string) bool { return a == "--" || a == "." || strings.HasPrefix(a, ":/") })
	switch g.name {
	case "reset":
		return g.flag("--hard", "--merge")
	case "clean":
		return g.flag("f", "--force") && !g.flag("n", "--dry-run")
	case "checkout":
		return paths || g.flag("f", "--force")
	case "switch":
		return g.flag("f", "--force", "--discard-changes")
	case "restore":
		return !g.flag("S", "--staged") || g.flag("W", "--worktree")
	case "stash":
		return g.sub("drop") || g.sub("clear")
	case "worktree":
		return g.sub("remove") && g.flag("f", "--force")
	case "rm":
		return g.flag("f", "r", "--force")
	}
	return false
}

func (c *call) gitForces() bool {
	g := c.gitCommand()
	return g.name == "push" && (g.flag("f", "d", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune") ||
		slices.ContainsFunc(g.operands(), func(a string) bool { return strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") }))
}

func (c *call) gitRewrites() bool {
	g := c.gitCommand()
	switch g.name {
	case "branch", "tag":
		return g.flag("D", "d", "--delete") || g.name == "branch" && g.flag("f", "--force")
	case "filter-branch", "filter-repo", "replace":
		return true
	case "update-ref":
		return g.flag("d")
	case "reflog":
		return g.sub("expire") || g.sub("delete")
	case "gc":
		return g.flag("--prune")
	}
	return false
}

// gitConfigures reports settings that hold commands.
func (c *call) gitConfigures() bool {
	for i, arg := range c.args {
		if setting := strings.ToLower(strings.TrimPrefix(arg, "-c")); strings.HasPrefix(arg, "-c") && (len(setting) > 0 || i+1 < len(c.args)) {
			if setting == "" {
				setting = strings.ToLower(c.args[i+1])
			}
			if holdsCommand(setting) {
				return true
			}
		}
		if strings.HasPrefix(arg, "--upload-pack") || strings.HasPrefix(arg, "--receive-pack") || strings.HasPrefix(arg, "--exec=") || strings.HasPrefix(arg, "ext::") {
			return true
		}
	}
	g := c.gitCommand()
	switch g.name {
	case "config":
		return g.flag("--global", "--system") && len(g.operands()) > 1 || slices.ContainsFunc(g.operands(), func(a string) bool { return holdsCommand(strings.ToLower(a)) }) && len(g.operands()) > 1
	case "bisect":
		return false
	case "rebase":
		return g.flag("x", "--exec")
	case "submodule":
		return g.sub("foreach")
	}
	return false
}

func holdsCommand(setting string) bool {
	name, value, _ := strings.Cut(setting, "=")
	return strings.HasPrefix(name, "alias.") || strings.HasPrefix(value, "!") ||
		slices.ContainsFunc(strings.Fields("command pager editor helper hookspath sshcommand fsmonitor textconv .process .clean .smudge external driver program askpass proxy templatedir"), func(part string) bool { return strings.Contains(name, part) })
}
