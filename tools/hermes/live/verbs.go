package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// update sends an update of the session and keeps it for a replay.
func (t *playedTurn) update(update object) error {
	t.mu.Lock()
	if len(t.session.said) < maxSaid {
		t.session.said = append(t.session.said, update)
	}
	t.mu.Unlock()
	return t.notify(acp.MethodSessionUpdate, object{"sessionId": t.session.id, "update": update})
}

// maxSaid bounds the updates that are replayed.
const maxSaid = 1000

func chunk(tag, text string) object {
	return object{"sessionUpdate": tag, "content": object{"type": "text", "text": text}}
}

func (t *playedTurn) say(_ context.Context, text string) error {
	return t.update(chunk("agent_message_chunk", text))
}

func (t *playedTurn) think(_ context.Context, text string) error {
	return t.update(chunk("agent_thought_chunk", text))
}

func (t *playedTurn) big(_ context.Context, rest string) error {
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 || n > maxLine {
		return mistake("no number of bytes: %s", quoted(rest))
	}
	id, err := t.newCall("A large result", "other")
	if err != nil {
		return err
	}
	large := strings.Repeat("large text\n", n/11+1)[:n]
	return t.notify(acp.MethodSessionUpdate, object{"sessionId": t.session.id, "update": object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
		"content": []object{{"type": "content", "content": object{"type": "text", "text": large}}}}})
}

func (t *playedTurn) plan(_ context.Context, rest string) error {
	var entries []object
	for i, entry := range strings.Split(rest, "|") {
		status := "pending"
		if i == 0 {
			status = "in_progress"
		}
		entries = append(entries, object{"content": strings.TrimSpace(entry), "priority": "medium", "status": status})
	}
	return t.update(object{"sessionUpdate": "plan", "entries": entries})
}

func (t *playedTurn) commands(context.Context, string) error {
	return t.update(object{"sessionUpdate": "available_commands_update", "availableCommands": []object{{"name": "lint", "description": "Test the client", "input": object{"hint": "anything"}}}})
}

func (t *playedTurn) anyUpdate(_ context.Context, rest string) error {
	if !json.Valid([]byte(rest)) {
		return mistake("no JSON: %s", quoted(rest))
	}
	return t.notify(acp.MethodSessionUpdate, object{"sessionId": t.session.id, "update": json.RawMessage(rest)})
}

func (t *playedTurn) raw(_ context.Context, rest string) error { return t.send([]byte(rest)) }

// mistake is a mistake of the script, which is not the client's fault.
func mistake(format string, args ...any) error {
	return skip("the script is wrong: " + fmt.Sprintf(format, args...))
}

func methodAndParams(rest string) (method string, params json.RawMessage, err error) {
	method, text, _ := strings.Cut(rest, " ")
	if method == "" || !json.Valid([]byte(text)) {
		return "", nil, mistake("no method and params: %s", quoted(rest))
	}
	return method, json.RawMessage(text), nil
}

func (t *playedTurn) anyNotify(_ context.Context, rest string) error {
	method, params, err := methodAndParams(rest)
	if err != nil {
		return err
	}
	return t.notify(method, params)
}

// request sends a request that needs no person.
func (t *playedTurn) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, late(t.Timeout))
	defer cancel()
	return t.call(ctx, method, params)
}

// question sends a request that a person may have to answer.
func (t *playedTurn) question(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*t.Timeout, late(10*t.Timeout))
	defer cancel()
	result, err := t.call(ctx, method, params)
	if errors.As(err, new(late)) {
		return nil, skip("nobody answered: " + err.Error())
	}
	return result, err
}

func (t *playedTurn) anyCall(ctx context.Context, rest string) error {
	method, params, err := methodAndParams(rest)
	if err != nil {
		return err
	}
	result, err := t.question(ctx, method, params)
	if f := (*failure)(nil); errors.As(err, &f) {
		return said(f.Error())
	} else if err != nil {
		return err
	}
	return said("answered with " + quoted(string(result)))
}

func (t *playedTurn) refused(ctx context.Context, rest string) error {
	number, rest, _ := strings.Cut(rest, " ")
	code, err := strconv.Atoi(number)
	if err != nil {
		return mistake("no error code: %s", quoted(number))
	}
	method, params, err := methodAndParams(rest)
	if err != nil {
		return err
	}
	result, err := t.question(ctx, method, params)
	f := (*failure)(nil)
	switch {
	case err == nil:
		return fmt.Errorf("%s is answered with %s", method, quoted(string(result)))
	case errors.As(err, &f) && (code == 0 || f.Code == code):
		return said(f.Error())
	}
	return err
}

// newCall announces a tool call.
func (t *playedTurn) newCall(title, kind string) (string, error) {
	t.mu.Lock()
	t.session.calls++
	id := fmt.Sprintf("%s-call-%d", t.session.id, t.session.calls)
	t.mu.Unlock()
	return id, t.update(object{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": "pending",
		"rawInput": object{"title": title}, "locations": []object{{"path": filepath.Join(t.session.cwd, noteFile)}}})
}

func (t *playedTurn) endCall(id, status string) error {
	return t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
		"content": []object{{"type": "content", "content": object{"type": "text", "text": "done"}}}})
}

func (t *playedTurn) tool(_ context.Context, title string) error {
	id, err := t.newCall(title, "other")
	if err != nil {
		return err
	}
	if err := t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}); err != nil {
		return err
	}
	return t.endCall(id, "completed")
}

// choices are the options of a permission request.
var choices = []object{
	{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
	{"optionId": "always", "name": "Always allow", "kind": "allow_always"},
	{"optionId": "no", "name": "Reject", "kind": "reject_once"},
	{"optionId": "never", "name": "Always reject", "kind": "reject_always"},
}

func (t *playedTurn) permission(id, title string) object {
	return object{"sessionId": t.session.id, "toolCall": object{"toolCallId": id, "title": title, "kind": "execute", "rawInput": object{"title": title}}, "options": choices}
}

// outcomeOf reads the answer to a permission request.
func outcomeOf(result json.RawMessage) (string, error) {
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	json.Unmarshal(result, &r)
	switch o := r.Outcome; {
	case o.Outcome == "cancelled":
		return o.Outcome, nil
	case o.Outcome == "selected":
		for _, c := range choices {
			if c["optionId"] == o.OptionID {
				return o.OptionID, nil
			}
		}
		return "", fmt.Errorf("the option %s was not offered", quoted(o.OptionID))
	}
	return "", fmt.Errorf("the outcome is neither selected nor cancelled: %s", quoted(string(result)))
}

func (t *playedTurn) ask(ctx context.Context, title string) error {
	id, err := t.newCall(title, "execute")
	if err != nil {
		return err
	}
	result, err := t.question(ctx, acp.MethodSessionRequestPermission, t.permission(id, title))
	if err != nil {
		return errors.Join(err, t.endCall(id, "failed"))
	}
	chosen, err := outcomeOf(result)
	status := "failed"
	if chosen == "yes" || chosen == "always" {
		status = "completed"
		if e := t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}); e != nil {
			return e
		}
	}
	if e := t.endCall(id, status); err == nil {
		err = e
	}
	if err == nil {
		err = said(chosen)
	}
	return err
}

// withdraw asks, and cancels the request. It has to be answered all the same.
func (t *playedTurn) withdraw(ctx context.Context, title string) error {
	id, err := t.newCall(title, "execute")
	if err != nil {
		return err
	}
	c, err := t.line.ask(acp.MethodSessionRequestPermission, t.permission(id, title), nil)
	if err != nil {
		return err
	}
	if err := t.notify("$/cancel_request", object{"requestId": c.id}); err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, t.Timeout, late(t.Timeout))
	defer cancel()
	result, err := t.line.wait(limited, c)
	if e := t.endCall(id, "failed"); e != nil {
		return e
	}
	if errors.As(err, new(late)) {
		return skip("the client does not withdraw: " + err.Error()) // it may not know $/cancel_request
	}
	if f := (*failure)(nil); errors.As(err, &f) {
		return said(f.Error())
	} else if err != nil {
		return err
	}
	chosen, err := outcomeOf(result)
	if err == nil {
		err = said(chosen)
	}
	return err
}

func (t *playedTurn) path(rest string) string {
	if filepath.IsAbs(rest) {
		return rest
	}
	return filepath.Join(t.session.cwd, rest)
}

// refusedBy turns an error of the client, which may refuse, into what was seen.
func refusedBy(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) && f.Code != int(acp.ErrorCodeMethodNotFound) {
		return said(f.Error())
	}
	return err
}

func (t *playedTurn) write(ctx context.Context, rest string) error {
	name, text, _ := strings.Cut(rest, " ")
	path := t.path(name)
	if _, err := t.question(ctx, acp.MethodFsWriteTextFile, object{"sessionId": t.session.id, "path": path, "content": text}); err != nil {
		return refusedBy(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.files[path] = text
	return nil
}

func (t *playedTurn) content(ctx context.Context, path string) (string, error) {
	result, err := t.question(ctx, acp.MethodFsReadTextFile, object{"sessionId": t.session.id, "path": path})
	if err != nil {
		return "", err
	}
	var r struct{ Content *string }
	if json.Unmarshal(result, &r) != nil || r.Content == nil {
		return "", fmt.Errorf("the answer has no content: %s", quoted(string(result)))
	}
	return *r.Content, nil
}

func (t *playedTurn) read(ctx context.Context, rest string) error {
	path := t.path(rest)
	content, err := t.content(ctx, path)
	if err != nil {
		return refusedBy(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if want, ok := t.session.files[path]; ok && strings.TrimRight(content, "\n") != strings.TrimRight(want, "\n") {
		return fmt.Errorf("%s was written, and %s is read", quoted(want), quoted(content))
	}
	return said(fmt.Sprintf("%d bytes", len(content)))
}

func (t *playedTurn) missing(ctx context.Context, rest string) error {
	content, err := t.content(ctx, t.path(rest))
	if f := (*failure)(nil); errors.As(err, &f) {
		return said(f.Error())
	}
	if err == nil {
		return fmt.Errorf("a file that is not there has the content %s", quoted(content))
	}
	return err
}

// terminal runs a command in a terminal; use gets its methods.
func (t *playedTurn) terminal(ctx context.Context, rest string, use func(ask func(method string) (json.RawMessage, error)) error) error {
	words := strings.Fields(rest)
	if len(words) == 0 {
		return mistake("there is no command")
	}
	result, err := t.question(ctx, acp.MethodTerminalCreate, object{"sessionId": t.session.id, "command": words[0], "args": words[1:], "cwd": t.session.cwd})
	if err != nil {
		if err = refusedBy(err); errors.As(err, new(said)) {
			return skip(err.Error())
		}
		return err
	}
	var made struct{ TerminalID string }
	if json.Unmarshal(result, &made); made.TerminalID == "" {
		return fmt.Errorf("the answer has no terminalId: %s", quoted(string(result)))
	}
	ask := func(method string) (json.RawMessage, error) {
		return t.request(ctx, method, object{"sessionId": t.session.id, "terminalId": made.TerminalID})
	}
	err = use(ask)
	if _, e := ask(acp.MethodTerminalRelease); err == nil || errors.As(err, new(said)) {
		if e != nil {
			return e
		}
	}
	return err
}

func (t *playedTurn) run(ctx context.Context, rest string) error {
	return t.terminal(ctx, rest, func(ask func(string) (json.RawMessage, error)) error {
		if _, err := ask(acp.MethodTerminalWaitForExit); err != nil {
			return err
		}
		result, err := ask(acp.MethodTerminalOutput)
		if err != nil {
			return err
		}
		var r struct {
			Output     *string
			ExitStatus *struct{ ExitCode *int }
		}
		json.Unmarshal(result, &r)
		switch {
		case r.Output == nil:
			return fmt.Errorf("the answer has no output: %s", quoted(string(result)))
		case r.ExitStatus == nil:
			return errors.New("the command has ended, and its output has no exitStatus")
		}
		return said("the output is " + quoted(*r.Output))
	})
}

func (t *playedTurn) killed(ctx context.Context, rest string) error {
	return t.terminal(ctx, rest, func(ask func(string) (json.RawMessage, error)) error {
		for _, method := range []string{acp.MethodTerminalOutput, acp.MethodTerminalKill, acp.MethodTerminalWaitForExit, acp.MethodTerminalOutput} {
			if _, err := ask(method); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *playedTurn) form(ctx context.Context, message string) error {
	return t.elicit(ctx, object{"mode": "form", "message": message, "requestedSchema": object{"type": "object", "properties": object{
		"name": object{"type": "string", "title": "Name", "minLength": 1},
		"sure": object{"type": "boolean", "title": "Sure?", "default": true},
	}, "required": []string{"name"}}})
}

func (t *playedTurn) url(ctx context.Context, url string) error {
	id := fmt.Sprintf("%s-page-%s", t.session.id, rand.Text())
	err := t.elicit(ctx, object{"mode": "url", "message": "Open this page", "url": url, "elicitationId": id})
	if errors.Is(err, said("accept")) {
		return errors.Join(err, t.notify(acp.MethodElicitationComplete, object{"elicitationId": id}))
	}
	return err
}

func (t *playedTurn) elicit(ctx context.Context, params object) error {
	params["sessionId"] = t.session.id
	result, err := t.question(ctx, acp.MethodElicitationCreate, params)
	if err != nil {
		return err
	}
	var r struct {
		Action  string
		Content map[string]any
	}
	json.Unmarshal(result, &r)
	switch r.Action {
	case "decline", "cancel":
	case "accept":
		if name, ok := r.Content["name"].(string); params["mode"] == "form" && (!ok || name == "") {
			return fmt.Errorf("accepted without the required name: %s", quoted(string(result)))
		}
	default:
		return fmt.Errorf("the action is none of accept, decline and cancel: %s", quoted(string(result)))
	}
	return said(r.Action)
}

func (t *playedTurn) stopWith(_ context.Context, reason string) error {
	t.reason, t.over = reason, true
	return nil
}

func (t *playedTurn) fail(_ context.Context, rest string) error {
	e := new(acp.Error)
	if err := e.UnmarshalJSON([]byte(rest)); err != nil {
		return mistake("no error: %s", quoted(rest))
	}
	t.failure, t.over = e, true
	return nil
}

func (t *playedTurn) exit(context.Context, string) error {
	t.over = true
	t.hangUp()
	t.line.cancel()
	return nil
}

func (t *playedTurn) wait(ctx context.Context, rest string) error {
	d, err := time.ParseDuration(rest)
	if err != nil {
		return mistake("no duration: %s", quoted(rest))
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
