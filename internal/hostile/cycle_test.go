//go:build unix

package hostile

import (
	"errors"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// polite is an agent that writes a file, runs a command it never releases, and
// waits for the cancel.
const polite = `HEAR initialize
LINE {"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":1}}
HEAR session/new
LINE {"jsonrpc":"2.0","id":$ID,"result":{"sessionId":"s"}}
HEAR session/prompt
LINE {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
LINE {"jsonrpc":"2.0","id":0,"method":"fs/write_text_file","params":{"sessionId":"s","path":"DIR/out.txt","content":"one\ntwo\n"}}
LINE {"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"sleep","args":["600"]}}
HEAR session/cancel
LINE {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}
EOF`

// K2: connecting, prompting, cancelling and closing leaves no goroutine, no
// descriptor, no process and no file, however often.
func TestCyclesLeaveNothingBehind(t *testing.T) {
	// The garbage collector would close forgotten files.
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(1<<30)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	leak.Check(t) // descriptors and children
	cycles := soak.Of(t, 1000, 200)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	cycle(t) // what is made once and stays
	goroutines := goruntime.NumGoroutine()
	soak.Repeat(t, func(t *testing.T, _ int) {
		workers(cycles, func(int) { cycle(t) })
		end := time.Now().Add(patience.Soon)
		for goruntime.NumGoroutine() > goroutines || len(inside(tmp)) > 0 {
			if time.Sleep(time.Millisecond); time.Now().After(end) {
				var all strings.Builder
				pprof.Lookup("goroutine").WriteTo(&all, 1)
				t.Fatalf("%d goroutines, %d before; processes %v are left\n%s", goruntime.NumGoroutine(), goroutines, inside(tmp), all.String())
			}
		}
		left, err := os.ReadDir(tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("files are left: %v %v", left, err)
		}
	})
}

// inside lists the processes that work below a folder, whatever their parent is now.
// All processes of a cycle do.
func inside(dir string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			found = append(found, link)
		}
	}
	return found
}

func cycle(t *testing.T) {
	dir, err := os.MkdirTemp("", "cycle")
	if err != nil {
		t.Error(err)
		return
	}
	defer func() {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != "out.txt" {
			t.Errorf("the workspace holds %v %v", entries, err)
		}
		os.RemoveAll(dir)
	}()
	cmd := command(strings.ReplaceAll(polite, "DIR", dir))
	cmd.Dir = dir
	p, err := launch.Start(t.Context(), cmd)
	if err != nil {
		t.Error(err)
		return
	}
	s := services.New(services.Options{ApproveCommand: services.AllowCommands})
	c := rpc.NewConn(p.Transport(), acp.ClientSide(s), rpc.Options{})
	a := acp.Agent{Conn: c}
	ctx := t.Context()
	_, err = a.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
	var r *acp.NewSessionResponse
	if err == nil {
		r, err = s.NewSession(ctx, a, &acp.NewSessionRequest{Cwd: dir})
	}
	if err != nil {
		t.Error(err)
		return
	}
	done := make(chan error, 1)
	go func() {
		answer, err := a.Prompt(ctx, &acp.PromptRequest{SessionID: r.SessionID, Prompt: []acp.ContentBlock{&acp.TextContent{Text: "x"}}})
		if err == nil && answer.StopReason != acp.StopReasonCancelled {
			err = errors.New("stopped with " + string(answer.StopReason))
		}
		done <- err
	}()
	for end := time.Now().Add(patience.Soon); c.Stats().Sent < 5; time.Sleep(time.Millisecond) { // both requests are answered
		if time.Now().After(end) {
			t.Error("the agent's requests are not answered")
			break
		}
	}
	s.Cancel(r.SessionID)
	if err := errors.Join(a.Cancel(ctx, &acp.CancelNotification{SessionID: r.SessionID}), <-done, s.Close()); err != nil {
		t.Error(err)
	}
	closed(t, "cycle", c, p)
}
