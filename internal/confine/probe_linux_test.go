package confine

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// What rules forbid is tried before a program starts. Without the rules all of it works, and
// would be noticed.
func TestASandboxThatDoesNotHoldIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"project", "keys"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "keys", "id"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"change files in " + dir, "read " + dir + "/keys/id", "connect to networks", "make Unix sockets", "signal process N", "read the environment of process N", "gain privileges"}
	for name, c := range map[string]struct {
		change func(*Rules)
		not    []string
	}{
		"none":                   {func(*Rules) {}, nil},
		"networks":               {func(r *Rules) { r.Net.All = true }, []string{"connect to networks"}},
		"Unix sockets":           {func(r *Rules) { r.Sockets = true }, []string{"make Unix sockets"}},
		"nothing is hidden":      {func(r *Rules) { r.Hide = []string{} }, []string{"read " + dir + "/keys/id"}},
		"a list of what is read": {func(r *Rules) { r.Read = []string{dir} }, []string{"read " + dir + "/keys/id"}},
	} {
		r := Rules{Write: []string{filepath.Join(dir, "project")}, Hide: []string{filepath.Join(dir, "none"), filepath.Join(dir, "keys")}, Exact: true}
		c.change(&r)
		list, end := tries(r)
		err := hold(list)
		end()
		var got []string
		for _, t := range list {
			got = append(got, regexp.MustCompile(`process [0-9]+`).ReplaceAllString(t.what, "process N"))
		}
		want := slices.DeleteFunc(slices.Clone(all), func(what string) bool { return slices.Contains(c.not, what) })
		if !slices.Equal(got, want) || !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %q, want %q: %v", name, got, want, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
