package process

import (
	"slices"
	"testing"
)

func TestOnlyHarmlessAndNamedVariablesAreInherited(t *testing.T) {
	for _, v := range []string{"HOME", "LC_ALL", "XDG_CONFIG_HOME", "LOCALE_ARCHIVE_2_27", "SOME_API_KEY", "SOME_TOKEN", "OTHER", "XDGLESS"} {
		t.Setenv(v, "v")
	}
	got := Environ([]string{"SOME_*", "NOT_SET"})
	for v, want := range map[string]bool{
		"HOME=v": true, "LC_ALL=v": true, "XDG_CONFIG_HOME=v": true, "LOCALE_ARCHIVE_2_27=v": true, "SOME_API_KEY=v": true, "SOME_TOKEN=v": true,
		"OTHER=v": false, "XDGLESS=v": false,
	} {
		if slices.Contains(got, v) != want {
			t.Errorf("%s inherited: %v, want %v", v, !want, want)
		}
	}
}

func TestTheLastVariableOfANameCounts(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "AB=2", "A=3=4", "B"}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "B": "", "C": ""} {
		if got := Lookup(env, name); got != want {
			t.Errorf("Lookup(%s) = %q, want %q", name, got, want)
		}
	}
}
