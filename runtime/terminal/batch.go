package terminal

import (
	"fmt"
	"path/filepath"
	"strings"
)

// batchSyntax refuses arguments that are more than text to a batch file. Windows
// gives the whole command line of one to cmd.exe, which reads it again by rules
// of its own: there an argument can be another command, whatever it is quoted
// with. Windows ignores points and spaces at the end of a file name.
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
