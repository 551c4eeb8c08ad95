package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/trace"
	"github.com/hermes-nvim/hermes/runtime/transport"
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
		os.Exit(run(m))
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
	case "recorded":
		os.Exit(playAgent(path))
	case "hooks":
		os.Exit(serveHooks(path == "gate"))
	}
	fmt.Fprintf(os.Stderr, "unknown role %q\n", role)
	os.Exit(2)
}

// playAgent is the agent of a recording.
func playAgent(path string) int {
	rec, err := trace.ReadFile(path)
	if err == nil {
		err = trace.Play(context.Background(), transport.NewStream(os.Stdin, os.Stdout), rec, trace.PlayOptions{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// limitFiles bounds the size of the files that this program writes, in bytes, where
// the system can.
var limitFiles = func(bytes string) {}

func run(m *testing.M) int {
	var err error
	if buildFolder, err = os.MkdirTemp("", "hermes-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(buildFolder)
	return m.Run()
}

var buildFolder string

var agentProgram = sync.OnceValues(func() (string, error) {
	return gobuild.Program(buildFolder, "internal/testagent/program")
})

// testAgent is the program of agents, whose environment has their scenario. It is built without
// the race detector, which is for the host.
func testAgent(t testing.TB) string {
	t.Helper()
	program, err := agentProgram()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// testKeeper is a keeper, without the race detector where make test has built one.
func testKeeper() []string { return helper("keep") }

// testLauncher is a program that confines others.
func testLauncher() []string {
	return helper("confine")
}

func helper(command string) []string {
	built := os.Getenv(gobuild.Programs)
	switch {
	case runtime.GOOS != "linux":
		return nil
	case built == "":
		return []string{"/proc/self/exe", command}
	}
	return []string{filepath.Join(built, "tools", "hermes"), command}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
