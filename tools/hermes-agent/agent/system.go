package agent

import (
	"fmt"
	"runtime"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
)

// SystemPrompt is made once for each session and stays the same, so that endpoints can
// cache it.
func SystemPrompt(cwd string, skills *skill.Index) string {
	prompt := fmt.Sprintf(`You are a coding agent in the user's editor.

- Look before you change: read the files that matter, and follow the style of the project.
- Use read, write and edit for files. They see unsaved text and let the user review your changes. Do not change files with terminal.
- Keep going until the task is done, then check it: build, run the tests.
- If the user denies something, do not work around it.
- Paths are relative to the working directory.
- Answer briefly, in Markdown.

Working directory: %s
System: %s`, cwd, runtime.GOOS)
	for _, more := range []string{skills.Prompt(), skill.Context(cwd)} {
		if more != "" {
			prompt += "\n\n" + more
		}
	}
	return prompt
}
