package lint

import (
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/shape"
)

func isExtension(method string) bool { return strings.HasPrefix(method, "_") }

// drafts are methods of drafts that were never in a schema we have, but that agents and
// clients use after announcing them.
var drafts = []string{"session/set_model"}

// isInvented reports whether a method is in no version of the protocol.
func isInvented(method string) bool {
	return !isExtension(method) && !strings.HasPrefix(method, "$/") && !slices.Contains(drafts, method) &&
		!isDefined([]byte(method))
}

// isDefined reports whether any version has a method.
func isDefined(method []byte) bool {
	return shape.V1().Method(method) != nil || shape.V2().Method(method) != nil || shape.V2Draft().Method(method) != nil
}

// unknown reports whether the receiver of a request cannot know its method.
func (c *Checker) unknown(r *Request) bool {
	return c.Edition != nil && c.Edition.Method([]byte(r.Method)) == nil && isInvented(r.Method)
}

func handlerOf(p Party) shape.Side {
	if p == Agent {
		return shape.Agent
	}
	return shape.Client
}
