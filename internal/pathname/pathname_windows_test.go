package pathname

import "testing"

func TestWhatIsBelowAFolder(t *testing.T) {
	t.Parallel()
	check(t, []way{
		{`C:\w`, `C:\w`, "."},
		{`C:\w`, `C:\w\a\b`, `a\b`},
		{`C:\w`, `C:/w/a`, "a"},
		{`C:\w`, `c:\W\a`, "a"}, // one folder, in other letters
		{`C:\w`, `C:\work`, ""},
		{`C:\w`, `C:\w\..\etc`, ""},
		{`C:\w`, `C:\w\..a`, "..a"},
		{`C:\`, `C:\w`, "w"},
		// Each volume is a tree of its own.
		{`C:\`, `D:\w`, ""},
		{`C:\w`, `D:\w\a`, ""},
		{`\\host\share`, `\\host\share\a`, "a"},
		{`\\host\share`, `\\host\other\a`, ""},
		{`\\host\share\`, `\\host\share`, "."},
		// A stream and a device are what their names say, in the folder.
		{`C:\w`, `C:\w\a:stream`, "a:stream"},
		{`C:\w`, `C:\w\NUL`, "NUL"},
		// Nobody knows where these are.
		{`C:w`, `C:w\a`, ""},
		{`\w`, `\w\a`, ""},
		{"", `C:\w`, ""},
	})
}
