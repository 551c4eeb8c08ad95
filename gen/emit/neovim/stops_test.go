package neovim

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestGenerationStops changes one thing in events.json at a time.
func TestGenerationStops(t *testing.T) {
	t.Parallel()
	answer := func(s string) *Answer {
		a := new(Answer)
		if err := json.Unmarshal([]byte(s), a); err != nil {
			panic(err)
		}
		return a
	}
	for name, test := range map[string]struct {
		change func(*EventRows)
		want   string // in the message
	}{
		"an update without a row": {
			func(r *EventRows) { delete(r.Updates, "plan") },
			`updates: no row for sessionUpdate "plan": add "plan": {"name": "Plan", "when": ""}`,
		},
		"a request without a row": {
			func(r *EventRows) { delete(r.Requests, "terminal/kill") },
			`requests: no row for the request terminal/kill: add "terminal/kill": {"name": "TerminalKill", "when": "", "answer": {"takes": "", "table": {}}}`,
		},
		"a notification without a row": {
			func(r *EventRows) { delete(r.Notifications, "elicitation/complete") },
			`notifications: no row for the notification elicitation/complete`,
		},
		"a reply without a row": {
			func(r *EventRows) { delete(r.Replies, "session/load") },
			`replies: no row for the reply to session/load: add "session/load": {"name": "SessionLoad", "when": ""}`,
		},
		"a prompt block without a row": {
			func(r *EventRows) { delete(r.Prompt, "audio") },
			`prompt: no row for a content block of type "audio": add "audio"`,
		},
		"a type of chunk without a row": {
			func(r *EventRows) { delete(r.Updates["agent_message_chunk"].Rows, "image") },
			`updates/agent_message_chunk/rows: no row for content.type "image" of ContentChunk: add "image"`,
		},
		"no row for unknown updates": {
			func(r *EventRows) { delete(r.Updates, "*") },
			`updates: no row for updates that the schema does not list: add "*"`,
		},
		"no row for unknown chunks": {
			func(r *EventRows) { delete(r.Updates["agent_thought_chunk"].Rows, "*") },
			`updates/agent_thought_chunk/rows: no row for content.type "*"`,
		},
		"a row for an update that is gone": {
			func(r *EventRows) { r.Updates["dance"] = &EventRow{Name: "AgentDance", When: "It dances."} },
			`updates: row "dance" is not used`,
		},
		"a row for a method that is gone": {
			func(r *EventRows) { r.Replies["session/fly"] = &EventRow{Name: "SessionFlown", When: "It flew."} },
			`replies: row "session/fly" is not used`,
		},
		"a row for a type of chunk that is gone": {
			func(r *EventRows) { r.Updates["agent_message_chunk"].Rows["smell"] = &EventRow{Name: "AgentSmell"} },
			`updates/agent_message_chunk/rows: row "smell" is not used`,
		},
		"one name for two events": {
			func(r *EventRows) { r.Updates["plan"].Name = "UsageUpdate" },
			`UsageUpdate: names both session/update plan and session/update usage_update`,
		},
		"an alias that is a name": {
			func(r *EventRows) { r.Updates["plan"].Alias = []string{"Prompted"} },
			`Prompted: names both session/update plan and the reply to session/prompt`,
		},
		"a local event with the name of another": {
			func(r *EventRows) { r.Local[0].Name = "AgentPlan" },
			`AgentPlan: names both session/update plan and the local event AgentPlan`,
		},
		"a row without a name": {
			func(r *EventRows) { r.Updates["plan"].Name = "" },
			`updates/plan: the row has no name`,
		},
		"a name that is not valid": {
			func(r *EventRows) { r.Updates["plan"].Name = "agent-plan" },
			`updates/plan: event name "agent-plan"`,
		},
		"an event that does not say when": {
			func(r *EventRows) { r.Updates["plan"].When = "" },
			`updates/plan: AgentPlan does not say when it fires`,
		},
		"a split by nothing": {
			func(r *EventRows) { r.Updates["agent_message_chunk"].By = "content.colour" },
			`updates/agent_message_chunk: "by" is "content.colour" of ContentChunk: ContentBlock is not a union that "colour" selects`,
		},
		"a split through nothing": {
			func(r *EventRows) { r.Updates["agent_message_chunk"].By = "body.type" },
			`ContentChunk has no member "body" that is an object`,
		},
		"a split that has a name": {
			func(r *EventRows) { r.Updates["agent_message_chunk"].Name = "AgentMessage" },
			`updates/agent_message_chunk: has "name" and "by"`,
		},
		"a flat key of nothing": {
			func(r *EventRows) { r.Updates["plan"].Flat = map[string]FlatPath{"id": {Of: "planId"}} },
			`updates/plan: flat key "id": Plan has no member "planId"`,
		},
		"a flat key by an unknown way": {
			func(r *EventRows) { r.Updates["plan"].Flat = map[string]FlatPath{"steps": {Of: "entries", As: "xml"}} },
			`flat key "steps": "as" is "xml", not json, blocks or options`,
		},
		"a parameter that no request has": {
			func(r *EventRows) { r.Replies["session/new"].Params = []string{"colour"} },
			`replies/session/new: NewSessionRequest has no member "colour" to repeat`,
		},
		"data that the schema describes": {
			func(r *EventRows) {
				r.Requests["session/request_permission"].Data = []DataMember{{Name: "options?", Type: "any"}}
			},
			`RequestPermissionRequest has a member "options"`,
		},
		"a request that cannot be answered": {
			func(r *EventRows) { r.Requests["terminal/kill"].Answer = nil },
			`requests/terminal/kill: "answer" belongs to requests, and each of them needs one`,
		},
		"an answer to an update": {
			func(r *EventRows) { r.Updates["plan"].Answer = answer(`{"takes": "nil", "done": {}}`) },
			`updates/plan: "answer" belongs to requests`,
		},
		"an answer with a member of nothing": {
			func(r *EventRows) {
				r.Requests["fs/read_text_file"].Answer = answer(`{"takes": "the text", "string": {"text": "$"}}`)
			},
			`requests/fs/read_text_file: answer: string: ReadTextFileResponse has no member "text"`,
		},
		"an answer without a member it needs": {
			func(r *EventRows) {
				r.Requests["terminal/output"].Answer = answer(`{"takes": "the output", "string": {"output": "$"}}`)
			},
			`requests/terminal/output: answer: string: TerminalOutputResponse needs the member "truncated"`,
		},
		"an answer with a variant of nothing": {
			func(r *EventRows) {
				r.Requests["session/request_permission"].Answer = answer(`{"takes": "nil", "done": {"outcome": {"outcome": "maybe"}}}`)
			},
			`answer: done: RequestPermissionOutcome has no variant "maybe"`,
		},
		"an answer with half a variant": {
			func(r *EventRows) {
				r.Requests["session/request_permission"].Answer = answer(`{"takes": "an option", "string": {"outcome": {"outcome": "selected"}}}`)
			},
			`answer: string: RequestPermissionOutcome needs the member "optionId"`,
		},
		"an answer that does not say what it takes": {
			func(r *EventRows) { r.Requests["terminal/kill"].Answer = answer(`{"done": {}}`) },
			`answer: "takes" must say what is answered with`,
		},
		"an answer that takes nothing": {
			func(r *EventRows) { r.Requests["terminal/kill"].Answer = answer(`{"takes": "nil"}`) },
			`answer: no template`,
		},
		"a local event with wire members": {
			func(r *EventRows) { r.Local[0].Params = []string{"cwd"} },
			`local/0: a local event has only`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rows := v1(t)
			test.change(&rows)
			_, err := Files(s, rows)
			if err == nil {
				t.Fatal("it did not stop")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got:\n%v\nwant in it:\n%s", err, test.want)
			}
			if n := strings.Count(err.Error(), "\n"); n > 2 {
				t.Errorf("one mistake, %d findings:\n%v", n, err)
			}
		})
	}
}

func TestHelpRefusesAWordThatWouldBeATag(t *testing.T) {
	t.Parallel()
	s, rows := v1(t)
	rows.Updates["plan"].When = "The agent has a *plan* of its own."
	_, err := Files(s, rows)
	if err == nil || !strings.Contains(err.Error(), "would become a tag") {
		t.Errorf("got %v", err)
	}
}
