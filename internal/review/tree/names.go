package tree

import (
	"cmp"
	"context"
	"slices"

	"github.com/hermes-nvim/hermes/internal/gitdir"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// outsideOfGit are what Names passes over in folders that no repository says
// anything about.
const outsideOfGit = ".*/\nnode_modules/\n"

// Names lists the files and links below root that git does not ignore, sorted,
// without reading them. complete is false when there are more: above the limits
// the highest directories are listed, and when ctx ends, those listed by then.
func Names(ctx context.Context, root string, opts Options) (names []string, complete bool, err error) {
	s := New(root, nil, opts)
	s.index = index{}
	c, top, err := s.begin()
	if err != nil {
		return nil, false, &Error{Op: "list", Path: root, Err: atomicfile.Reason(err)}
	}
	defer c.handle.Close()
	c.user = userSettings(s.opts.Getenv, 0)
	top.policy = policyOf(c.handle.Name(), c.user)
	c.met = make(map[string]policy)
	if _, _, ok := gitdir.Above(c.handle.Name()); !ok {
		top.rules = top.rules.below(".", outsideOfGit, false)
	}
	err = c.walk(ctx, top)
	if err != nil && ctx.Err() == nil {
		return nil, false, &Error{Op: "list", Path: root, Err: atomicfile.Reason(err)}
	}
	slices.SortFunc(c.found, func(a, b found) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range c.found {
		names = append(names, f.Path)
	}
	cut := func(l Left) bool { return l.Reason == TooMany || l.Reason == TooDeep }
	return names, err == nil && !slices.ContainsFunc(c.left, cut), nil
}
