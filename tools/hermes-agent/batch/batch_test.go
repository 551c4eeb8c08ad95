package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// TestMain also is a run that is slow enough to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "batch" {
		d, err := OpenDataset(os.Args[3])
		if err == nil {
			_, err = Run(context.Background(), d, echo(3*time.Millisecond), options(os.Args[2]))
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func prompts() []Prompt {
	var list []Prompt
	for i := range 250 {
		list = append(list, Prompt{Text: fmt.Sprintf("prompt %d\n%s", i%240, strings.Repeat("x", i%240))}) // ten of them twice
	}
	return list
}

// file writes a dataset.
func file(t *testing.T, list []Prompt) (name string) {
	t.Helper()
	var text strings.Builder
	for _, p := range list {
		members := map[string]any{}
		if p.Row != "" {
			if err := json.Unmarshal([]byte(p.Row), &members); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range map[string]string{"prompt": p.Text, "dir": p.Place, "id": p.ID} {
			if value != "" {
				members[name] = value
			}
		}
		b, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(b, '\n'))
	}
	name = filepath.Join(t.TempDir(), "d.jsonl")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// dataset is an open one.
func dataset(t *testing.T, list []Prompt) *Dataset {
	t.Helper()
	d, err := OpenDataset(file(t, list))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func options(out string) Options {
	return Options{Out: out, Workers: 4, Distribution: Distribution{"core": 100, "process": 50}, Seed: 7}
}

// echo answers with the prompt. Every seventh comes to no end.
func echo(pause time.Duration) Runner {
	return func(_ context.Context, j Job) (Outcome, error) {
		time.Sleep(pause)
		return Outcome{
			Conversations: []trajectory.Turn{{From: "human", Value: j.Text}, {From: "gpt", Value: "<think>" + j.Text + "</think>"}},
			Completed:     hash(j.Text)%7 != 0, Tools: map[string]trajectory.Count{"read": {Calls: 2, Failed: 1}},
		}, nil
	}
}

// contents returns what a run has made.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{allFile, failedFile, statsFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

func run(t *testing.T, out string, r Runner, o Options) Statistics {
	t.Helper()
	o.Out = out
	stats, err := Run(t.Context(), dataset(t, prompts()), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

func TestARunThatIsKilledTenTimesGivesEachPromptOnce(t *testing.T) {
	t.Parallel()
	whole, out := t.TempDir(), t.TempDir()
	stats := run(t, whole, echo(0), options(whole))
	if stats.Prompts != 240 || stats.Completed+stats.Failed != 240 || stats.Failed == 0 || stats.Tools["read"].Calls != 480 || stats.Toolsets["core"] != 240 || stats.Toolsets["process"] < 60 || stats.Toolsets["process"] > 180 {
		t.Errorf("%+v", stats)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := file(t, prompts())
	for range 10 {
		x := exec.Command(self, "batch", out, data)
		if err := x.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- x.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond):
			x.Process.Kill()
			<-ended
		}
	}
	run(t, out, echo(0), options(out))
	same(t, "after the last run", contents(t, out), contents(t, whole))
	count := map[string]int{}
	names, _ := filepath.Glob(filepath.Join(out, batchDir, "*.jsonl"))
	if len(names) != 3 {
		t.Errorf("the batches are %v", names)
	}
	for _, name := range names {
		if _, err := readLines(name, func(l line) { count[l.Prompt]++ }); err != nil {
			t.Error(err)
		}
	}
	for prompt, n := range count {
		if n != 1 {
			t.Errorf("%d results of %.20q", n, prompt)
		}
	}
	if len(count) != 240 {
		t.Errorf("%d prompts have results", len(count))
	}
}

func TestTwoShardsMergedEqualOneRun(t *testing.T) {
	t.Parallel()
	whole, a, b, merged := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "m")
	run(t, whole, echo(0), options(whole))
	total := 0
	for i, out := range []string{a, b} {
		o := options(out)
		o.Shard = Shard{i, 2}
		n := run(t, out, echo(0), o).Prompts
		if total += n; n < 80 {
			t.Errorf("shard %d has %d prompts", i, n)
		}
	}
	if total != 240 {
		t.Errorf("the shards have %d prompts", total)
	}
	if _, err := Merge(merged, a, b); err != nil {
		t.Fatal(err)
	}
	same(t, "merged", contents(t, merged), contents(t, whole))
	if _, err := Merge(merged, filepath.Join(a, "none")); err == nil {
		t.Error("a folder without results is merged")
	}
}

// Records have the output of commands in them.
func TestRecordsAreReadByTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	run(t, out, echo(0), options(out))
	records := 0
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		records++
		info, err := d.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil || records < 3 {
		t.Errorf("%d files, %v", records, err)
	}
}

func TestAnUnfinishedLineIsForgotten(t *testing.T) {
	t.Parallel()
	whole, out := t.TempDir(), t.TempDir()
	run(t, whole, echo(0), options(whole))
	run(t, out, echo(0), options(out))
	name := filepath.Join(out, batchDir, "batch_00001.jsonl")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-20); err != nil {
		t.Fatal(err)
	}
	ran := 0
	o := options(out)
	o.Workers = 1
	run(t, out, func(ctx context.Context, j Job) (Outcome, error) { ran++; return echo(0)(ctx, j) }, o)
	if ran != 1 {
		t.Errorf("%d prompts ran again", ran)
	}
	same(t, "after the second run", contents(t, out), contents(t, whole))
}

func TestAnErrorIsTriedAgainAndAResultIsNot(t *testing.T) {
	t.Parallel()
	whole, out := t.TempDir(), t.TempDir()
	run(t, whole, echo(0), options(whole))
	stats := run(t, out, func(ctx context.Context, j Job) (Outcome, error) {
		switch hash(j.Text) % 5 {
		case 0:
			return Outcome{}, errors.New("endpoint is down")
		case 1:
			panic("bug")
		}
		return echo(0)(ctx, j)
	}, options(out))
	failed := contents(t, out)[failedFile]
	if !strings.Contains(failed, "endpoint is down") || !strings.Contains(failed, "panic: bug") || stats.Failed < 60 || stats.Prompts != 240 {
		t.Errorf("%+v", stats)
	}
	var last Progress
	o := options(out)
	o.Progress = func(p Progress) { last = p }
	run(t, out, echo(0), o)
	if last.Done != 240 || last.Total != 240 || last.Resumed < 100 || last.Resumed > 200 {
		t.Errorf("%+v", last)
	}
	same(t, "after the second run", contents(t, out), contents(t, whole))
}

func TestACancelledRunKeepsNoHalfResult(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(out)
	ran := 0
	o.Workers = 1
	_, err := Run(ctx, dataset(t, prompts()), func(ctx context.Context, j Job) (Outcome, error) {
		if ran++; ran == 10 {
			cancel()
			return Outcome{}, ctx.Err()
		}
		return echo(0)(ctx, j)
	}, o)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r, err := openResults(out)
	if err == nil {
		defer r.close()
	}
	if err != nil || len(r.done) != 9 || contents(t, out)[failedFile] == "" && contents(t, out)[allFile] == "" {
		t.Errorf("%d results, %v", len(r.done), err)
	}
}

func TestRowsAreTheSameOnlyIfAllOfThemIs(t *testing.T) {
	t.Parallel()
	rows := []Prompt{{Text: "a"}, {Text: "a", Place: "d1"}, {Text: "a", Place: "d2"}, {Text: "a", ID: "1"}, {Text: "a", Place: "d1"}}
	for _, samples := range []int{0, 3} {
		out := t.TempDir()
		var last Progress
		o := Options{Out: out, Samples: samples, Workers: 2, Progress: func(p Progress) { last = p }}
		ran := map[string]int{}
		var mu sync.Mutex
		for range 2 {
			stats, err := Run(t.Context(), dataset(t, rows), func(_ context.Context, j Job) (Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				ran[j.key(j.Sample)]++
				return Outcome{Completed: true}, nil
			}, o)
			if want := 4 * max(1, samples); err != nil || stats.Prompts != want || len(ran) != want || last.Equal != max(1, samples) {
				t.Errorf("%+v, %v, %d runs, %+v", stats, err, len(ran), last)
			}
		}
		for key, n := range ran {
			if n != 1 {
				t.Errorf("%q ran %d times", key, n)
			}
		}
	}
}

func TestABatchStopsWhenNothingCanSucceed(t *testing.T) {
	t.Parallel()
	down := errors.New("endpoint is down")
	for _, test := range []struct {
		name   string
		run    func(n int) error
		budget Budget
		why    string
		most   int
	}{
		{"a key that is refused", func(int) error { return &StopError{errors.New("401")} }, Budget{}, "the batch stopped: 401", 4},
		{"an endpoint that is gone", func(int) error { return down }, Budget{}, "10 prompts in a row failed in the same way: endpoint is down", 14},
		{"an endpoint that goes", func(n int) error {
			if n > 50 {
				return down
			}
			return nil
		}, Budget{}, "endpoint is down", 70},
		{"other faults", func(n int) error { return fmt.Errorf("fault %d", n) }, Budget{}, "", 240},
		{"a fault between results", func(n int) error {
			if n%9 > 0 {
				return down
			}
			return nil
		}, Budget{}, "", 240},
		{"no tokens left", func(int) error { return nil }, Budget{Tokens: 100}, "the budget is used up", 14},
		{"no money left", func(int) error { return nil }, Budget{Cost: 1}, "the budget is used up", 14},
	} {
		o := options(t.TempDir())
		o.Budget = test.budget
		if test.name == "a fault between results" {
			o.Workers = 1
		}
		var n atomic.Int32
		stats, err := Run(t.Context(), dataset(t, prompts()), func(ctx context.Context, j Job) (Outcome, error) {
			return Outcome{Completed: true, Tokens: Tokens{Input: 8, Output: 2}, Cost: 0.1}, test.run(int(n.Add(1)))
		}, o)
		var stop *StopError
		if errors.As(err, &stop) != (test.why != "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v", test.name, err)
		}
		if stats.Prompts > test.most {
			t.Errorf("%s: %d prompts", test.name, stats.Prompts)
		}
		if test.budget != (Budget{}) { // nothing is left for another run either
			before := n.Load()
			if _, err := Run(t.Context(), dataset(t, prompts()), func(context.Context, Job) (Outcome, error) { n.Add(1); return Outcome{Completed: true}, nil }, o); !errors.As(err, &stop) || n.Load() != before {
				t.Errorf("%s: %v, %d more", test.name, err, n.Load()-before)
			}
		}
	}
}

func TestTwoRunsDoNotShareAFolder(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	_, err := Run(t.Context(), dataset(t, prompts()[:1]), func(ctx context.Context, j Job) (Outcome, error) {
		_, err := Run(ctx, dataset(t, prompts()), echo(0), options(out))
		return Outcome{Stop: err.Error()}, nil
	}, options(out))
	if err != nil {
		t.Fatal(err)
	}
	if failed := contents(t, out)[failedFile]; !strings.Contains(failed, "another run works in "+out) {
		t.Errorf("the second run: %s", failed)
	}
	run(t, out, echo(0), options(out))
}

func TestRecordsHaveTheSameColumns(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	tools := []string{"read", "write"}
	stats, err := Run(t.Context(), dataset(t, []Prompt{{Text: "0", Row: `{"label":"x"}`}, {Text: "1"}, {Text: "2"}}), func(_ context.Context, j Job) (Outcome, error) {
		if j.Index == 2 {
			return Outcome{}, errors.New("no luck")
		}
		return Outcome{
			Completed: true, Tools: map[string]trajectory.Count{tools[j.Index]: {Calls: 1}}, Requests: 2, Tokens: Tokens{Input: 3, Output: 4, Cached: 1}, Cost: 0.5,
			Check: &Check{Command: "true", Passed: j.Index == 0}, Conversations: []trajectory.Turn{{From: "human"}, {From: "gpt"}},
		}, nil
	}, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	files := contents(t, out)
	for _, name := range []string{allFile, failedFile} {
		for text := range strings.Lines(files[name]) {
			if !strings.Contains(text, `"tools":{"read":{"calls":`) || !strings.Contains(text, `"write":{"calls":`) || strings.Contains(text, "seconds") {
				t.Errorf("%s has %s", name, text)
			}
		}
	}
	if !strings.Contains(files[allFile], `"row":{"label":"x"}`) {
		t.Error(files[allFile])
	}
	if stats.Turns != 2 || stats.Tokens != (Tokens{6, 8, 2}) || stats.Cost != 1 || stats.Checked != 2 || stats.Passed != 1 || stats.Failures["no luck"] != 1 {
		t.Errorf("%+v", stats)
	}
}

// mostHeap returns how much memory a function has in use at most.
func mostHeap(f func()) (most uint64) {
	runtime.GC()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return most
}

// A dataset of any size can be run, also with long prompts: what
// is in memory are the prompts that run.
func TestADatasetNeedsLittleMemory(t *testing.T) {
	const rows, size, workers = 60, 200_000, 4
	name := filepath.Join(t.TempDir(), "d.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", size)
	for i := range rows {
		if _, err := fmt.Fprintf(f, "{\"prompt\":\"%d %s\",\"id\":%d,\"label\":\"%d\"}\n", i, text, i, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, again := range []bool{false, true} {
		var stats Statistics
		ran := atomic.Int32{}
		most := mostHeap(func() {
			d, err := OpenDataset(name)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			stats, err = Run(t.Context(), d, func(_ context.Context, j Job) (Outcome, error) {
				if ran.Add(1); len(j.Text) < size || j.Row == "" {
					t.Errorf("%d has %d bytes", j.Index, len(j.Text))
				}
				return Outcome{Completed: true}, nil
			}, Options{Out: out, Workers: workers})
			if err != nil {
				t.Error(err)
			}
		})
		if want := map[bool]int32{false: rows}[again]; stats.Prompts != rows || ran.Load() != want {
			t.Errorf("%d ran, %+v", ran.Load(), stats)
		}
		t.Logf("%d MiB for a dataset of %d MiB", most>>20, rows*size>>20)
		if most > rows*size*3/4 {
			t.Errorf("%d MiB for a dataset of %d MiB", most>>20, rows*size>>20)
		}
	}
}

// A dataset can come through a pipe, and must stay as it is.
func TestDatasetsAreReadTwice(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(file(t, prompts()))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() { w.Write(text); w.Close() }()
		d, err := OpenDataset(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		stats, err := Run(t.Context(), d, echo(0), options(t.TempDir()))
		copied := d.file.Name()
		if err != nil || stats.Prompts != 240 || d.Close() != nil || r.Close() != nil {
			t.Errorf("%+v, %v", stats, err)
		}
		if _, err := os.Stat(copied); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the copy is left: %v", err)
		}
	}
	for what, change := range map[string]func(name string) error{
		"shorter": func(name string) error { return os.Truncate(name, int64(len(text)/2)) },
		"other":   func(name string) error { return os.WriteFile(name, append([]byte("\"new\"\n"), text...), 0o600) },
	} {
		name, out := file(t, prompts()), t.TempDir()
		d, err := OpenDataset(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		ran := 0
		o := options(out)
		o.Workers = 1
		stats, err := Run(t.Context(), d, func(ctx context.Context, j Job) (Outcome, error) {
			if ran++; ran == 3 {
				if err := change(name); err != nil {
					t.Error(err)
				}
			}
			return echo(0)(ctx, j)
		}, o)
		if want := name + " has changed since this run began; start it again"; !errors.As(err, new(*StopError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
		if stats.Prompts < 3 || stats.Prompts > 200 {
			t.Errorf("%s: %d prompts have results", what, stats.Prompts)
		}
	}
}

// A dataset of any size can be combined, because one line at a time is in memory.
func TestCombiningNeedsLittleMemory(t *testing.T) {
	out := t.TempDir()
	r, err := openResults(out)
	if err != nil {
		t.Fatal(err)
	}
	const rows, size = 800, 50_000
	text := strings.Repeat("x", size)
	for i := range rows {
		if err := r.add(Record{Index: i, Prompt: strconv.Itoa(i), Outcome: Outcome{Completed: true, Conversations: []trajectory.Turn{{From: "gpt", Value: text}}}}); err != nil {
			t.Fatal(err)
		}
	}
	r.close()
	var stats Statistics
	most := mostHeap(func() { stats, err = Combine(out, filepath.Join(out, batchDir)) })
	if err != nil || stats.Prompts != rows {
		t.Errorf("%+v, %v", stats, err)
	}
	if most > rows*size/2 {
		t.Errorf("%d MiB for %d MiB of results", most>>20, rows*size>>20)
	}
}

func TestDatasetsAreJSONLines(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "d.jsonl")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"prompt":"a","id":7}

"b"
{"prompt":"c","dir":"x","more":1,"id":"seven","image":"p.png","check":"true"}
{"prompt":"d","dir":"/x"}`)
	read := func() (list []Prompt, err error) {
		d, err := OpenDataset(name)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		err = d.each(func(r row, p Prompt) {
			if again, err := d.prompt(r); err != nil || again != p {
				t.Errorf("%+v becomes %+v, %v", p, again, err)
			}
			list = append(list, p)
		})
		return list, err
	}
	got, err := read()
	in := filepath.Dir(name)
	if err != nil || !slices.Equal(got, []Prompt{
		{Text: "a", ID: "7"}, {Text: "b"},
		{Text: "c", Dir: filepath.Join(in, "x"), Place: "x", ID: "seven", Image: filepath.Join(in, "p.png"), Check: "true", Row: `{"more":1}`},
		{Text: "d", Dir: "/x", Place: "/x"},
	}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, why := range map[string]string{"\"a\"\nnope\n": "line 2", "{}\n": "no prompt", "\" \"\n": "no prompt", "[1]\n": "line 1", "{\"prompt\":\"a\",\"dir\":1}\n": "dir: "} {
		write(text)
		if _, err := read(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDistributionsAndShardsAreRead(t *testing.T) {
	t.Parallel()
	d, err := ParseDistribution("core, process=50,skills=0")
	if err != nil || d["core"] != 100 || d["process"] != 50 || d["skills"] != 0 {
		t.Errorf("%v, %v", d, err)
	}
	rare := Distribution{"a": 0, "b": 0.001}
	if got := rare.Pick(1, "x"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("without luck the toolsets are %v", got)
	}
	if !slices.Equal(d.Pick(3, "x"), d.Pick(3, "x")) {
		t.Error("the same prompt has other toolsets")
	}
	for _, text := range []string{"", "=5", "a=x", "a=101", "a=-1", "a=NaN", "a,,b"} {
		if d, err := ParseDistribution(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
	if s, err := ParseShard("1/3"); err != nil || s != (Shard{1, 3}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, text := range []string{"", "1", "3/3", "-1/3", "1/0", "a/b", "1/3/4"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
