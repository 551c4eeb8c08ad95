package terminal

import (
	"fmt"
	"path/filepath"
	"strings"
)

// batchSyntax refuses arguments that a batch file would not treat as plain
// text. Windows gives the whole command line of a batch file to cmd.exe, which
// parses it again by rules of its own: there an argument can be another
// command, however it is quoted. Windows ignores points and spaces at the end
// of a file name.
func batchSyntax(c *Command) error {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(c.Path, ". "))) {
	case ".bat", ".cmd":
	default:
		return nil
	}
	for _, word := range c.Argv {
		if strings.ContainsAny(word, "\"%!&|<>^()\r\n") {
			return fmt.Errorf("%w: %s is a batch file, and %s would be run by its shell", ErrCommand, brief(c.Path), brief(word))
		}
	}
	return nil
}
