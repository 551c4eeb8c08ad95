package terminal

import (
	"errors"
	"testing"
)

func TestArgumentsOfBatchFilesAreOnlyText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		argv []string
		ok   bool
	}{
		{`C:\bin\npm.cmd`, []string{"npm", "run", "test all", "--a=b", `C:\x y\`, "日本"}, true},
		{`C:\bin\npm.cmd`, []string{"npm", `"&calc.exe`}, false},
		{`C:\bin\npm.CMD`, []string{"npm", "&calc.exe"}, false},
		{`C:\bin\x.bat. .`, []string{"x", "%PATH%"}, false},
		{`C:\bin\x.bat`, []string{"x", "a\r\nb"}, false},
		{`C:\bin\x.bat`, []string{"x", "a^b"}, false},
		{`C:\ws\a&b.bat`, []string{"a&b"}, false},
		{`C:\bin\node.exe`, []string{"node", `"&calc.exe`, "%PATH%"}, true},
		{`C:\bin.bat\node`, []string{"node", "a|b"}, true},
	} {
		if err := batchSyntax(&Command{Path: c.path, Argv: c.argv}); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrCommand) {
			t.Errorf("%s %q: %v", c.path, c.argv, err)
		}
	}
}
