package project

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/gitdir"
	"github.com/hermes-nvim/hermes/internal/special"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Files that git obeys are not under review: most of them are no text of the project, and
// git itself writes them. But they can run programs and hide files, so a change of them is
// reported by name.

// steering returns the part of a repository that a path leads to, such as ".git/hooks", if
// git obeys it, and "" otherwise.
func (p *Project) steering(path string) string {
	words := strings.Split(p.linkName(path), "/")
	for i, word := range words {
		if !strings.EqualFold(word, ".git") {
			continue
		}
		below := words[i+1:]
		if len(below) > 0 && special.GitKeeps(below) {
			return ""
		}
		return strings.Join(words[:min(i+2, len(words))], "/")
	}
	return ""
}

// noticeSteering reports files that an author has changed and git obeys.
func (p *Project) noticeSteering(author review.Author, paths ...string) {
	for _, path := range paths {
		if what := p.steering(path); what != "" && !isAbs(what) {
			p.steered(author, what)
		}
	}
}

func (p *Project) steered(author review.Author, what string) {
	p.notRecorded(author, "what git obeys is not under review, and "+what+" was changed", false)
}

const (
	maxObeyed = 1 << 20 // bytes of a file that are compared
	maxHooks  = 1_000
)

// obeyed returns the states of the files that git obeys in the repository of the project, by
// the names under which their changes are reported. Samples of hooks are left out.
func (p *Project) obeyed() map[string]string {
	all := make(map[string]string)
	add := func(what, path string) {
		if info, err := os.Lstat(path); err != nil {
			return
		} else if info.IsDir() {
			all[what] += path + "\x00"
		} else {
			all[what] += fmt.Sprintf("%s\x00%v\x00%x\x00", path, info.Mode(), sha256.Sum256(readObeyed(path)))
		}
	}
	top, _, ok := gitdir.Above(p.root)
	if !ok {
		return all
	}
	own, common := gitdir.Of(top, func(path string) string { return string(readObeyed(path)) })
	add(".git", filepath.Join(top, ".git"))
	add(".git/commondir", filepath.Join(own, "commondir"))
	add(".git/config", filepath.Join(common, "config"))
	add(".git/config.worktree", filepath.Join(own, "config.worktree"))
	for _, name := range []string{"attributes", "exclude", "grafts"} {
		add(".git/info", filepath.Join(common, "info", name))
	}
	add(".git/info", filepath.Join(own, "info", "sparse-checkout"))
	hooks := filepath.Join(common, "hooks")
	add(".git/hooks", hooks)
	dir, err := os.OpenFile(hooks, os.O_RDONLY|atomicfile.OpenFlags, 0)
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxHooks)
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".sample") {
			add(".git/hooks", filepath.Join(hooks, name))
		}
	}
	return all
}

func readObeyed(path string) []byte {
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxObeyed))
	return text
}

// noticeObeyed reports which files that git obeys an author has changed since the last look
// at all files.
func (p *Project) noticeObeyed(j *job) {
	last := p.obeys
	p.obeys = p.obeyed()
	if last == nil || j.user {
		return
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(last)), maps.Keys(p.obeys))
	slices.Sort(names)
	for _, what := range slices.Compact(names) {
		if p.obeys[what] == last[what] {
			continue
		}
		p.steered(j.author, what)
		if what == ".git" {
			return // with all that is in it
		}
	}
}
