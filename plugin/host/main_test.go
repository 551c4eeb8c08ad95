package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/confine"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// roleEnv makes the test program another one: the host that Neovim starts, or an
// agent at a socket. testagent.Env makes it an agent on standard input.
const roleEnv = "HERMES_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keep" {
		syscall.Exit(launch.Keep(os.Args[2:])) // os.Exit takes a second with the race detector
	}
	if len(os.Args) > 5 && os.Args[1] == "confine" && os.Args[2] == "--rules" {
		var r confine.Rules
		err := json.Unmarshal([]byte(os.Args[3]), &r)
		if err == nil {
			err = confine.Exec(r, os.Args[5], os.Args[5:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(99)
	}
	testagent.Main()
	role, path, _ := strings.Cut(os.Getenv(roleEnv), " ")
	switch role {
	case "":
		os.Exit(m.Run())
	case "host":
		limitFiles(path)
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		var log io.Writer = io.Discard
		if path := os.Getenv("HERMES_LOG"); path != "" {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			log = f
		}
		opts := Options{Version: "test", Keeper: testKeeper(), Launcher: testLauncher(), Logger: slog.New(slog.NewTextHandler(log, nil))}
		if err := Serve(ctx, os.Stdin, os.Stdout, opts); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "agent":
		os.Exit(serveAgent(path))
	case "hooks":
		os.Exit(serveHooks(path == "gate"))
	}
	fmt.Fprintf(os.Stderr, "unknown role %q\n", role)
	os.Exit(2)
}

// limitFiles bounds the size of the files that this program writes, in bytes, where
// the system can.
var limitFiles = func(bytes string) {}

// testKeeper is this program as a keeper.
func testKeeper() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", "keep"}
}

// testLauncher is this program as one that confines others.
func testLauncher() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", "confine"}
}
