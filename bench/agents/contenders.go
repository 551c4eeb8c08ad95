package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// scripted is the name of the model and of its provider.
const scripted = "scripted"

func hermesAgent(program string) *contender {
	return &contender{
		name: "hermes-agent", command: []string{program, "acp"}, files: []string{program},
		prepare: func(_, model string) ([]string, error) { return []string{"OPENAI_BASE_URL=" + model}, nil },
	}
}

func piAgent(folder string) *contender {
	bin := filepath.Join(folder, "node_modules", ".bin")
	c := &contender{
		name: "pi, by pi-acp", command: []string{filepath.Join(bin, "pi-acp")}, files: []string{folder},
		prepare: func(home, model string) ([]string, error) {
			models := fmt.Sprintf(`{"providers":{%q:{"baseUrl":%q,"api":"openai-completions","apiKey":"none","models":[{"id":%[1]q}]}}}`, scripted, model)
			settings := fmt.Sprintf(`{"defaultProvider":%q,"defaultModel":%[1]q}`, scripted)
			dir := filepath.Join(home, ".pi", "agent")
			return []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1"}, write(dir, map[string]string{"models.json": models, "settings.json": settings})
		},
	}
	if node, err := exec.LookPath("node"); err == nil {
		c.needs = []string{node}
	}
	return c
}

func openCode(folder string) *contender {
	program := filepath.Join(folder, "node_modules", "opencode-ai", "bin", "opencode.exe")
	return &contender{
		name: "opencode", command: []string{program, "acp"}, files: []string{program},
		prepare: func(home, model string) ([]string, error) {
			settings := fmt.Sprintf(`{"model":"%[1]s/%[1]s","autoupdate":false,"share":"disabled","provider":{%[1]q:{"npm":"@ai-sdk/openai-compatible","name":%[1]q,"options":{"baseURL":%[2]q,"apiKey":"none"},"models":{%[1]q:{"name":%[1]q}}}}}`, scripted, model)
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}, write(filepath.Join(home, ".config", "opencode"), map[string]string{"opencode.json": settings})
		},
	}
}

func write(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
