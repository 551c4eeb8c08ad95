package agentv2

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// unified returns the change of a file as git prints it, but with the absolute path on
// both sides, as version 2 wants it. It is empty if nothing changes.
func unified(path, before, after string, created bool) string {
	from := path
	if created {
		from = "/dev/null"
	}
	hunks := udiff.Unified(from, path, before, after)
	if hunks == "" && !created {
		return ""
	}
	var b strings.Builder
	b.WriteString("diff --git " + path + " " + path + "\n")
	if created {
		b.WriteString("new file mode 100644\n")
	}
	b.WriteString(hunks)
	return b.String()
}
