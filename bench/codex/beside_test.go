// Package codex measures hermes codex-agent beside codex-acp, over the same codex, and
// beside the codex-acp of Zed, which has a codex of its own in its program.
package codex

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/test/llm"
)

var (
	beside = flag.String("codex-acp", "", "the codex-acp to measure beside; none: nothing is measured")
	zed    = flag.String("zed-codex-acp", "", "the codex-acp of Zed to measure beside as well")
	rounds = flag.Int("rounds", 9, "sessions of each agent, taking turns")
)

// run is what one session of an agent showed.
type run struct {
	answers, ready time.Duration // until initialize and session/new are answered
	own            size          // of the agent, without the codex that it runs
	updates        []time.Duration
}

func TestBesideCodexACP(t *testing.T) {
	if *beside == "" {
		t.Skip("skipped: needs codex-acp, which is not among the packages for tests; see docs/benchmarks.md")
	}
	model := watch(t)
	published := testcodex.Published(t, model.url)
	hermes := filepath.Join(t.TempDir(), "hermes")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", hermes, "./tools/hermes")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	agents := map[string]launch.Command{
		"hermes codex-agent": {Path: hermes, Args: []string{"codex-agent", "--codex", published.Path}, Env: published.Env},
		"codex-acp":          {Path: *beside, Env: append([]string{"CODEX_PATH=" + published.Path, "PATH=" + os.Getenv("PATH")}, published.Env...)},
	}
	if *zed != "" {
		agents["codex-acp of Zed"] = launch.Command{Path: *zed, Env: append([]string{"PATH=" + os.Getenv("PATH")}, published.Env...)}
	}
	runs := map[string][]run{}
	for range *rounds {
		for _, name := range slices.Sorted(maps.Keys(agents)) {
			runs[name] = append(runs[name], measure(t, agents[name], published.Path, model))
		}
	}
	fmt.Println("| | first answer | session | memory | with program files | with codex | update, median | p90 |\n|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		all := runs[name]
		var updates []time.Duration
		for _, r := range all {
			updates = append(updates, r.updates...)
		}
		slices.Sort(updates)
		fmt.Printf("| %s | %v | %v | %.1f MiB | %.1f MiB | %.1f MiB | %v | %v |\n", name,
			median(all, func(r run) time.Duration { return r.answers }).Round(time.Millisecond),
			median(all, func(r run) time.Duration { return r.ready }).Round(time.Millisecond),
			median(all, func(r run) float64 { return r.own.private })/1024, median(all, func(r run) float64 { return r.own.all })/1024,
			median(all, func(r run) float64 { return r.own.codex })/1024,
			updates[len(updates)/2].Round(time.Microsecond), updates[len(updates)*9/10].Round(time.Microsecond))
	}
}

func median[T cmp.Ordered](all []run, of func(run) T) T {
	var list []T
	for _, r := range all {
		list = append(list, of(r))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// client notes when the lines of the model arrive.
type client struct {
	acp.UnimplementedClientHandler
	mu   sync.Mutex
	text strings.Builder
	came map[int]time.Time
}

func (c *client) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	u, ok := p.Update.(*acp.AgentMessageChunk)
	if !ok {
		return nil
	}
	content, ok := u.Content.(*acp.TextContent)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.WriteString(content.Text)
	note(c.came, c.text.String())
	return nil
}

var tick = regexp.MustCompile(`tick (\d+)`)

// note keeps when each line was seen first.
func note(times map[int]time.Time, text string) {
	now := time.Now()
	for _, m := range tick.FindAllStringSubmatch(text, -1) {
		if n, _ := strconv.Atoi(m[1]); times[n].IsZero() {
			times[n] = now
		}
	}
}

func measure(t *testing.T, command launch.Command, codex string, m *model) run {
	t.Helper()
	var r run
	begin := time.Now()
	process, err := launch.Start(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.Soon)
		defer cancel()
		process.Stop(ctx)
	}()
	c := &client{came: map[int]time.Time{}}
	agent, err := rpc.Open(t.Context(), process.Transport(), c, nil, rpc.Options{})
	if err != nil {
		t.Fatal(err, process.Stderr())
	}
	r.answers = time.Since(begin)
	s, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir(), MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err, process.Stderr())
	}
	r.ready = time.Since(begin)
	m.forget()
	if _, err := agent.Session(s.SessionID).Prompt(t.Context(), acp.NewTextContent("SLOW 30")); err != nil {
		t.Fatal(err, process.Stderr())
	}
	r.own = memory(t, process.PID(), codex)
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, sent := range m.times() {
		if came, ok := c.came[n]; ok {
			r.updates = append(r.updates, came.Sub(sent))
		}
	}
	if len(r.updates) < 20 {
		t.Fatalf("only %d updates were seen", len(r.updates))
	}
	return r
}

// model stands before a scripted model and notes when its lines leave.
type model struct {
	url  string
	mu   sync.Mutex
	sent map[int]time.Time
}

func watch(t *testing.T) *model {
	t.Helper()
	script, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { script.Close() })
	target, err := url.Parse(script.URL)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{sent: map[int]time.Time{}}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, m), r.Body}
			return nil
		},
	})
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// Write notes what the model has just said. A line is in one piece.
func (m *model) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	note(m.sent, string(p))
	return len(p), nil
}

func (m *model) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.sent)
}

func (m *model) times() map[int]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.sent)
}

// size is memory in KiB.
type size struct {
	private float64 // written by the processes: no other process uses it
	all     float64 // and the pages of program files, in proportion where processes share them
	codex   float64 // and all that of the codex it runs
}

var pss = regexp.MustCompile(`(?m)^Pss(?:_Anon)?:\s+(\d+) kB`)

// memory is that of a process and its children, apart from the codex binary, which counts only
// in the last number.
func memory(t *testing.T, pid int, codex string) size {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid)
	rollup, err := os.ReadFile(dir + "/smaps_rollup")
	if os.IsNotExist(err) || len(rollup) == 0 { // a child that has ended
		return size{}
	}
	var sum size
	found := pss.FindAllSubmatch(rollup, -1) // Pss comes before Pss_Anon
	if len(found) != 2 {
		t.Fatalf("%s/smaps_rollup: %s", dir, rollup)
	}
	sum.codex, _ = strconv.ParseFloat(string(found[0][1]), 64)
	program, _ := os.Readlink(dir + "/exe")
	if same, err := filepath.EvalSymlinks(codex); err != nil || program != same {
		sum.all = sum.codex
		sum.private, _ = strconv.ParseFloat(string(found[1][1]), 64)
	}
	tasks, _ := filepath.Glob(dir + "/task/*/children")
	for _, path := range tasks {
		list, _ := os.ReadFile(path)
		for _, child := range strings.Fields(string(list)) {
			n, _ := strconv.Atoi(child)
			s := memory(t, n, codex)
			sum = size{sum.private + s.private, sum.all + s.all, sum.codex + s.codex}
		}
	}
	return sum
}
