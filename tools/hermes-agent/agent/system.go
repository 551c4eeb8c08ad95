package agent

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
)

// SystemPrompt is made once for a session in a folder and stays the same, so that endpoints
// can cache it.
func SystemPrompt(cwd string, skills *skill.Index) string {
	prompt := fmt.Sprintf(`You are a coding agent in the user's editor.

- Look before you change: read the files that matter, and follow the style of the project.
- Use read, write and edit for files. They see unsaved text and let the user review your changes. Do not change files with terminal.
- Keep going until the task is done, then check it: build, run the tests.
- If the user denies something, do not work around it.
- Paths are relative to the working directory.
- Answer briefly, in Markdown.

%s
System: %s`, about(cwd), runtime.GOOS)
	for _, more := range []string{skills.Prompt(), skill.Context(cwd)} {
		if more != "" {
			prompt += "\n\n" + more
		}
	}
	return prompt
}

// about is the line of a system prompt that names the folder.
func about(cwd string) string { return "Working directory: " + cwd }

// isAbout reports whether a system prompt was made for a folder.
func isAbout(prompt, cwd string) bool {
	return slices.Contains(strings.Split(prompt, "\n"), about(cwd))
}
