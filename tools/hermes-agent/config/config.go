// Package config says which model the agent talks to and where it keeps its sessions.
package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
)

// Config is the settings of the agent.
type Config struct {
	BaseURL string // of the endpoint, such as http://127.0.0.1:8080/v1
	Key     string // empty: none is sent
	Model   string // empty: the first one of the endpoint
	State   string // the folder of what is kept
}

// FromEnvironment reads OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL. With a key alone
// the endpoint is OpenAI's.
func FromEnvironment(get func(string) string) (Config, error) {
	c := Config{BaseURL: get("OPENAI_BASE_URL"), Key: get("OPENAI_API_KEY"), Model: get("OPENAI_MODEL")}
	if c.BaseURL == "" && c.Key == "" {
		return c, errors.New("no model: set OPENAI_BASE_URL to an OpenAI-compatible endpoint such as http://127.0.0.1:8080/v1, or OPENAI_API_KEY")
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://api.openai.com/v1"
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return c, fmt.Errorf("OPENAI_BASE_URL: %q is not an http address", c.BaseURL)
	}
	var err error
	c.State, err = stateDir(get)
	return c, err
}

// stateDir follows the habits of each system, as Hermes does.
func stateDir(get func(string) string) (string, error) {
	if dir := get("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hermes-agent"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := get("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "hermes-agent"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("folder of the sessions: %w", err)
	}
	return filepath.Join(home, ".local", "state", "hermes-agent"), nil
}
