package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func init() {
	const level = `{"id":"level","name":"Level","type":"select","currentValue":"low","options":[{"value":"low","name":"Low"},{"value":"high","name":"High"}]}`
	const both = `"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"plan","name":"Plan"}]},"configOptions":[` +
		`{"id":"m","name":"Model","category":"model","type":"select","currentValue":"small","options":[{"group":"g","name":"G","options":[{"value":"small","name":"S"},{"value":"big","name":"B"}]}]},` +
		level + `,{"id":"web","name":"Web","type":"boolean","currentValue":false},{"id":"new","name":"New","type":"of_tomorrow","currentValue":1}]`
	const models = `"models":{"currentModelId":"a","availableModels":[{"modelId":"a","name":"A"},{"modelId":"b","name":"B"}]}`
	// The option that an agent offers after another one was set.
	const web = `,{"id":"web","name":"Web","type":"boolean","currentValue":false}`
	changed := `{"configOptions":[` + level + web + `]}`
	options := map[string]string{
		"offers nothing": changed, "offers models as option": changed, "offers models as such": changed, "offers models alone": changed,
		"sets options without a list": `{}`,
		"offers something new":        `{"configOptions":[` + strings.ReplaceAll(level, "high", "highest") + `]}`,
	}
	for name, offer := range map[string]string{
		"offers something new":        both,
		"offers nothing":              `"configOptions":null`,
		"offers models as option":     both,
		"offers models as such":       both + "," + models,
		"offers models alone":         models,
		"sets options without a list": both,
	} {
		testAgents[name] = steps(
			answering("session/new", `{"sessionId":"mine",`+offer+`}`), answering("session/load", `{`+offer+`}`),
			answering("session/set_config_option", options[name]),
			turnOf(say("mine", "$HEARD")),
		)
	}
	for name, methods := range map[string]string{
		"wants a login and names ways": `[{"id":"k","name":"A key"},{"id":"b","name":"In the browser","type":"terminal"}]`,
		"wants a login":                `[]`,
	} {
		testAgents[name] = steps(
			answering("initialize", `{"protocolVersion":1,"authMethods":`+methods+`}`),
			refusing("session/new", `{"code":-32000,"message":"Authentication required","data":{"why":["expired"]}}`), "TALK",
		)
	}
}

// settingsIn are the requests that set something, among those an agent heard.
func settingsIn(heard string) string {
	var list []string
	for line := range strings.Lines(heard) {
		method, params, _ := strings.Cut(line, " ")
		what, ok := strings.CutPrefix(method, "session/set_")
		if !ok {
			continue
		}
		var p struct {
			ModeID, ModelID, ConfigID, Type string
			Value                           json.RawMessage
		}
		json.Unmarshal([]byte(params), &p)
		told := fmt.Sprintf("%s %s %s %s %s %s", strings.TrimPrefix(what, "config_"), p.ModeID, p.ModelID, p.ConfigID, p.Type, p.Value)
		list = append(list, strings.Join(strings.Fields(told), " "))
	}
	return strings.Join(list, ", ")
}

func TestModeModelAndOptionsAreSetBeforeThePrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, flags, want string // the settings that the agent got, or the error
		status             int
	}{
		{"offers models as option", "", "", 0},
		{"offers models as option", "--mode plan --model big --option level=high", `mode plan, option m "big", option level "high"`, 0},
		{"offers models as such", "--model b", "model b", 0},
		{"offers models as such", "--session mine --model b --mode plan", "mode plan, model b", 0},
		{"offers models as such", "--option m=big", `option m "big"`, 0},
		{"offers something new", "--option web=true --option level=highest", `option web boolean true, option level "highest"`, 0},
		{"offers something new", "--option web=true --option level=high", "--option level=high: the agent has the values low, highest", 2},
		{"offers models as option", "--option web=yes", "--option web=yes: the agent has the values true, false", 2},
		{"offers models as option", "--option level=", "--option level=: the agent has the values low, high", 2},
		{"offers models as option", "--option none=x", "--option none=x: the agent has the config options m, level, web, new", 2},
		{"offers models as option", "--option new=1", "--option new=1: the option is of a type", 2},
		{"offers models as option", "--model huge", "--model huge: the agent has the models small, big", 2},
		{"offers models as such", "--model big", `option m "big"`, 0},
		{"offers models as such", "--model huge", "--model huge: the agent has the models small, big", 2},
		{"offers models alone", "--model big", "--model big: the agent has the models a, b", 2},
		{"offers models alone", "--model b", "model b", 0},
		{"sets options without a list", "--model big --option level=high", `option m "big", option level "high"`, 0},
		{"offers models as such", "--mode yolo", "--mode yolo: the agent has the modes ask, plan", 2},
		{"offers nothing", "--model big", "--model big: the agent has no models", 2},
		{"offers nothing", "--mode plan", "--mode plan: the agent has no modes", 2},
		{"offers nothing", "--option a=b", "--option a=b: the agent has no config options", 2},
		{"offers nothing", "--option a", `--option "a" is not ID=VALUE`, 2},
		{"offers nothing", "--option =a", `--option "=a" is not ID=VALUE`, 2},
	} {
		out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, c.agent, strings.Fields(c.flags)...)...))
		if status == 0 {
			out = settingsIn(out)
		}
		if status != c.status || status == 0 && out != c.want || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s %s: %d\n%s%s\nwant %s", c.agent, c.flags, status, out, errs, c.want)
		}
	}
}

func TestAnAgentThatDoesNotAnswerIsQuoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		began bool
		said  string
		want  string
	}{
		{&rpc.TimeoutError{Method: "initialize", Limit: 30 * time.Second}, false, "stdout: usage", "initialize: not answered within 30s; the agent said: stdout: usage"},
		{errTimeout, false, "stdout: usage", "the turn did not end in time; the agent said: stdout: usage"},
		{errTimeout, true, "stdout: usage", "the turn did not end in time"},
		{errTimeout, false, "", "the turn did not end in time"},
		{errInterrupted, false, "stdout: usage", "interrupted"},
	} {
		turn := &turn{began: c.began}
		if got := turn.quoting(c.err, c.said); got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	if err := (&turn{}).quoting(nil, "stdout: usage"); err != nil {
		t.Error(err)
	}
}

func TestAMissingLoginIsExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for agent, name := range map[string]string{"wants a login and names ways": "names", "wants a login": "plain"} {
		config, _ := json.Marshal(map[string]any{
			name:           map[string]any{"command": self(t), "env": map[string]string{testagent.Env: testAgents[agent]}, "auth": "log in with the mine command once"},
			name + "-bare": map[string]any{"command": self(t), "env": map[string]string{testagent.Env: testAgents[agent]}},
		})
		write(t, filepath.Join(dir, name, "config/hermes/agents.json"), string(config))
	}
	for preset, want := range map[string]string{
		"names":      "Authentication required; log in to the agent first (its ways to log in: A key, In the browser)",
		"names-bare": "Authentication required; log in to the agent first (its ways to log in: A key, In the browser)",
		"plain":      "Authentication required; log in with the mine command once",
		"plain-bare": "Authentication required; log in with the agent's own program first",
	} {
		name, _, _ := strings.Cut(preset, "-")
		out, errs, status := end(t, hermes(t, filepath.Join(dir, name), "run", "--format", "json", preset, "go"))
		if status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d\n%s", preset, status, errs)
		}
		_, last := updates(t, out)
		if last.Event != "end" || last.Error == "" || last.Code != -32000 || string(last.Data) != `{"why":["expired"]}` {
			t.Errorf("the last event does not have the agent's error: %s", out)
		}
	}
}
