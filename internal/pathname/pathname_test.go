package pathname

import "testing"

// A way is a folder, a path, and the name that the path has below the folder: "." is
// the folder itself, "" is elsewhere.
type way struct{ folder, path, name string }

func check(t *testing.T, ways []way) {
	for _, w := range ways {
		below, ok := Below(w.folder, w.path)
		want := w.name
		if want == "." {
			want = ""
		}
		if below != want || ok != (want != "") {
			t.Errorf("Below(%q, %q): %q, %v", w.folder, w.path, below, ok)
		}
		if got := Within(w.folder, w.path); got != (w.name != "") {
			t.Errorf("Within(%q, %q): %v", w.folder, w.path, got)
		}
	}
}
