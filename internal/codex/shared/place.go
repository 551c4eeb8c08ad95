// Package shared lets several programs use one app-server of codex: editors through
// Hermes, and the terminal UI, which is `codex --remote unix://SOCKET`.
//
// A hub, the process that calls [Serve], owns the app-server and passes the
// connections on. It belongs to none of the programs: it is started by the first one
// that needs it, and ends itself and the app-server when the last one has left.
package shared

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// Dir returns the folder of the hub for a codex program. It depends on the user and on
// the folder in which codex keeps its conversations, because only one app-server can
// write a conversation.
func Dir(program string) string {
	home, _ := os.UserHomeDir()
	codex := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	sum := sha256.Sum256([]byte(program + "\x00" + codex))
	name := fmt.Sprintf("hermes-codex-%d-%x", os.Getuid(), sum[:4])
	return socket.Folder(name, innerFile, os.Getenv("XDG_RUNTIME_DIR"), os.TempDir())
}

// Socket returns the socket of the hub in a folder, for `codex --remote`.
func Socket(dir string) string { return filepath.Join(dir, "codex.sock") }

// The other files in the folder of a hub.
const (
	lockFile  = "lock"            // locked by the hub
	innerFile = "app-server.sock" // the socket of the app-server
	lastFile  = "last-error"      // why the app-server has ended
	underFile = "wrapper"         // Options.Command.Wrapper
)
