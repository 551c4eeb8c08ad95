package process

import (
	"os"
	"slices"
	"strings"
)

// inherited names the variables that commands get: all but those that look like
// secrets, such as the key of the model.
func inherited() []string {
	var names []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "" && !secret(name) {
			names = append(names, name)
		}
	}
	return names
}

func secret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "COOKIE"}, func(part string) bool { return strings.Contains(name, part) })
}
