package announced

import (
	"os"
	"testing"
)

func TestAFileHoldsATextOnlyIfItIsNoLinkOutOfItsFolder(t *testing.T) {
	t.Parallel()
	dir, away := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{dir + "/a": "text", dir + "/b": "other", away + "/key": "text"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{dir + "/inner": "a", dir + "/out": away + "/key", dir + "/loop": "loop"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"a": true, "inner": true, "b": false, "out": false, "loop": false, "none": false, "": false} {
		if got := holds(dir+"/"+name, "text"); got != want {
			t.Errorf("%q has the text: %v", name, got)
		}
	}
	for name, want := range map[string]bool{"a": true, "b": true, "out": false, "none": false} {
		if got := holds(dir+"/"+name, ""); got != want {
			t.Errorf("%q is there: %v", name, got)
		}
	}
}
