package launch

import (
	"os"
	"slices"

	"github.com/hermes-nvim/hermes/internal/process"
)

// Environ returns the environment an agent gets: the variables of this process
// that every agent needs (PATH, HOME, locale, terminal, XDG and the like) and
// those named by PassEnv, or all of them with InheritEnv, and Env last.
func (c Command) Environ() []string {
	env := os.Environ()
	if !c.InheritEnv {
		env = process.Environ(append([]string{"COLORTERM"}, c.PassEnv...))
	}
	for _, v := range c.Env {
		env = slices.DeleteFunc(env, func(old string) bool { return process.SameName(process.Name(old), process.Name(v)) })
		env = append(env, v)
	}
	return env
}
