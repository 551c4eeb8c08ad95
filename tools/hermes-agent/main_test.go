package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

func dependencies(t *testing.T, of ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-deps"}, of...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The plugin's host and the library must stay small, and the agent must be able to do what
// any program outside of this module can.
func TestTheAgentAndTheLibraryShareOnlyTheLibrary(t *testing.T) {
	t.Parallel()
	const module = "github.com/hermes-nvim/hermes/"
	mine := dependencies(t, "./...")
	for _, dep := range []string{module + "tools/hermes-agent/model/openai", module + "tools/hermes-agent/loop", module + "runtime/rpc"} {
		if !strings.Contains(mine, dep) {
			t.Errorf("the list is not that of the agent: no %s", dep)
		}
	}
	for dep := range strings.FieldsSeq(dependencies(t, "../hermes", "../../acp/...", "../../runtime/...", "../../plugin/...")) {
		for _, unwanted := range []string{"hermes-agent", "modelcontextprotocol", "mvdan.cc"} {
			if strings.Contains(dep, unwanted) {
				t.Errorf("the library or the host needs %s", dep)
			}
		}
	}
	direct, err := exec.Command("go", "list", "-f", `{{range .Imports}}{{println .}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	shared := []string{ // what this repository has once
		"internal/atomicfile",  // replaces a file
		"internal/confine",     // a sandbox for commands
		"internal/pathname",    // which paths are in a folder
		"internal/review/tree", // which files are ignored
		"internal/shim",        // a supervisor for commands
		"internal/special",     // which files are special
	}
	for dep := range strings.FieldsSeq(string(direct)) {
		if slices.Contains(shared, strings.TrimPrefix(dep, module)) {
			continue
		}
		if strings.HasPrefix(dep, module) && !strings.HasPrefix(dep, module+"tools/hermes-agent/") && !strings.HasPrefix(dep, module+"runtime/") && !strings.HasPrefix(dep, module+"acp") {
			t.Errorf("the agent uses %s, which is not public", dep)
		}
	}
}

func TestTheProgramSaysHowItIsUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
		err  string
	}{
		{nil, "usage:", "which command?"},
		{[]string{"help"}, "usage:", ""},
		{[]string{"version"}, "dev\n", ""},
		{[]string{"fly"}, "usage:", `there is no command "fly"`},
	} {
		var out bytes.Buffer
		err := run(t.Context(), test.args, stdio{strings.NewReader(""), &out, &out})
		if !strings.Contains(out.String(), test.want) || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%v: %v, %s", test.args, err, out.String())
		}
	}
}

// A program that "go install" has made knows its version without the linker.
func TestTheVersionIsThatOfTheModuleIfTheLinkerHasSetNone(t *testing.T) {
	t.Parallel()
	module := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, test := range []struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		{"v1.2.3", module("v1.0.0"), "v1.2.3"}, {"", module("v1.0.0"), "v1.0.0"}, {"", module("v0.0.0-20261130070000-c30bc9470000+dirty"), "v0.0.0-20261130070000-c30bc9470000+dirty"},
		{"", module("(devel)"), "dev"}, {"", module(""), "dev"}, {"", nil, "dev"},
	} {
		if got := versionOf(test.linked, test.info); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// Small prompts leave the window to the work. A token is more than three bytes on average,
// in English and in JSON.
func TestThePromptAndTheToolsAreShort(t *testing.T) {
	t.Parallel()
	skills := skill.Load()
	tools, err := tool.NewSet(allTools(skills), nil, "core", "skills")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := json.Marshal(tools.Specs())
	if err != nil {
		t.Fatal(err)
	}
	prompt := agent.SystemPrompt("/home/somebody/projects/something", skills)
	if tokens := (len(prompt) + len(schemas)) / 3; tokens >= 900 {
		t.Errorf("the prompt and the tools have %d tokens", tokens)
	} else {
		t.Logf("%d tokens", tokens)
	}
}

// asProgram in the environment makes the test program the agent.
const asProgram = "HERMES_AGENT_TEST_PROGRAM"

// asOther has more variables of the environment, and what the test program then does.
var asOther = map[string]func() error{}

// TestMain also is the program, and what the program starts for its commands.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	for name, run := range asOther {
		if os.Getenv(name) != "" {
			if err := run(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			return
		}
	}
	if len(os.Args) > 1 && slices.Contains([]string{keepCommand, superviseCommand, supervisedCommand}, os.Args[1]) {
		main() // which has lost its variables
		return
	}
	os.Exit(m.Run())
}
