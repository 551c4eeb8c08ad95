package testcodex

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// Published runs the published app-server with a configuration of its own, for a
// model at that address. The configuration is in the home folder that Env names.
func Published(t testing.TB, model string) launch.Command {
	t.Helper()
	home := sockdir.New(t) // a daemon of Codex has its socket there
	config := `model = "gpt-5.1-codex"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "` + model + `/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return launch.Command{Path: Binary(t), Args: []string{"app-server"}, Env: []string{"HOME=" + home, "CODEX_HOME=" + home}}
}
