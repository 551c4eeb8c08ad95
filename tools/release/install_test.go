package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/editors"
)

// conversation installs the release twice, first from a server that leaves
// HTTPS, and talks to two agents by what is installed.
const conversation = `
local lines = {}
local function note(...) lines[#lines + 1] = table.concat({ ... }, " ") end
local hermes = require("hermes")
local function wait(begin)
  local ended
  begin(function(err, result) ended = { err, result } end)
  if not vim.wait(60000, function() return ended ~= nil end, 10) then note("no answer") end
  return unpack(ended or {}, 1, 2)
end
for _, url in ipairs({ vim.env.TEST_URL .. "/plain", vim.env.TEST_URL .. "/releases" }) do
  hermes.setup({ host = { url = url } })
  local err, installed = wait(function(done) hermes.install({ on_done = done }) end)
  note("installed", err and err.message or installed.version)
end
local err = wait(function(done) hermes.connect("demo", { on_done = done }) end)
note("connected", err and err.message or hermes.state().host.version)
local _, session = wait(function(done) hermes.create_session({ cwd = vim.fn.getcwd(), on_done = done }) end)
local _, turn = wait(function(done) hermes.prompt(session.sessionId, "/say hello", { on_done = done }) end)
note("turn", turn and turn.stopReason or "failed")
wait(function(done) hermes.disconnect(nil, { on_done = done }) end)
err = wait(function(done) hermes.connect("hermes", { on_done = done }) end)
note("agent", err and err.message or hermes.connections()[1].agentInfo.version)
wait(function(done) hermes.disconnect(nil, { on_done = done }) end)
vim.fn.writefile(lines, vim.env.TEST_RESULT)
`

// install serves a release over HTTPS and installs it in every Neovim.
func install(t *testing.T, dist, pinned string) {
	plain := httptest.NewServer(http.StripPrefix("/v1.2.3/", http.FileServer(http.Dir(dist))))
	defer plain.Close()
	mux := http.NewServeMux()
	mux.Handle("/releases/v1.2.3/", http.StripPrefix("/releases/v1.2.3/", http.FileServer(http.Dir(dist))))
	mux.Handle("/plain/", http.StripPrefix("/plain", http.RedirectHandler(plain.URL+"/v1.2.3/manifest.json", http.StatusFound)))
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	write(t, trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))

	for _, program := range editors.All(t) {
		dir := t.TempDir()
		root := filepath.Join(dir, "hermes")
		write(t, filepath.Join(root, pinFile), readFile(t, pinned))
		for _, name := range []string{"lua", "plugin"} {
			folder, err := filepath.Abs(filepath.Join(repository, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(folder, filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
		script, result := filepath.Join(dir, "conversation.lua"), filepath.Join(dir, "result")
		write(t, script, []byte(conversation))
		ctx := patience.Context(t, patience.Turn)
		cmd := exec.CommandContext(ctx, program.Path, "--clean", "--headless", "--cmd", "set rtp^="+root, "-c", "luafile "+script, "-c", "qall!")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TEST_URL="+server.URL, "TEST_RESULT="+result, "CURL_CA_BUNDLE="+trusted, "OPENAI_BASE_URL=http://127.0.0.1:1/v1",
			"XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "NVIM_LOG_FILE="+filepath.Join(dir, "log"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("Neovim %s: %v %s", program.Version, err, out)
		}
		said, err := os.ReadFile(result)
		if err != nil {
			t.Fatalf("Neovim %s: %v %s", program.Version, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		if len(lines) != 5 || !strings.Contains(lines[0], "curl failed: (1)") ||
			lines[1] != "installed v1.2.3" || lines[2] != "connected v1.2.3" || lines[3] != "turn end_turn" || lines[4] != "agent v1.2.3" {
			t.Errorf("Neovim %s: %q %s", program.Version, lines, out)
		}
	}
}
