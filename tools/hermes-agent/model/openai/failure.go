package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// failure is an answer that says what went wrong. Endpoints have no common form for that.
type failure struct {
	status int    // of HTTP; 200 if the failure came instead of an answer, or in it
	said   string // the endpoint's words; empty: none
	raw    string // the whole answer, as far as it was read
	page   bool   // the answer was a web page
	after  time.Duration
}

func (f *failure) Error() string {
	text := f.said
	if f.page {
		text = strings.TrimSuffix("a web page instead of an answer: "+f.said, ": ")
	}
	if f.status == http.StatusOK {
		return text
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", f.status, http.StatusText(f.status)))
	if text == "" {
		return status
	}
	return status + ": " + text
}

// failureBytes is how much of an answer that refuses a request is read.
const failureBytes = 64 << 10

// readFailure reads the body of an answer with a status that is not one of success.
func readFailure(status int, header http.Header, body []byte) *failure {
	f := &failure{status: status, raw: string(body)}
	trimmed := bytes.TrimSpace(body)
	var v any
	switch {
	case json.Unmarshal(trimmed, &v) == nil:
		f.said = words(v)
		if code := codeOf(v); status == http.StatusOK && code > 0 {
			f.status = code // of the server behind this one
		}
	case bytes.HasPrefix(trimmed, []byte("data:")) && json.Unmarshal(bytes.TrimPrefix(trimmed, []byte("data:")), &v) == nil: // of a stream
		f.said = words(v)
	case bytes.HasPrefix(trimmed, []byte("<")):
		f.page, f.said = true, title(string(trimmed))
	default:
		f.said = string(trimmed)
	}
	f.said = strings.Join(strings.Fields(strings.ToValidUTF8(f.said, "\uFFFD")), " ")
	if len(f.said) > 500 {
		f.said = strings.ToValidUTF8(f.said[:500], "") + "…"
	}
	f.after = pauseOf(header, f.raw)
	return f
}

// speaking are the members that say what is wrong, the best ones first.
var speaking = []string{"error", "message", "msg", "detail", "details", "error_description", "error_message", "errors", "reason", "description", "title", "raw"}

// words finds what an answer says, wherever it says it.
func words(v any) string {
	switch v := v.(type) {
	case string:
		var inner any
		if trimmed := strings.TrimSpace(v); strings.HasPrefix(trimmed, "{") && json.Unmarshal([]byte(trimmed), &inner) == nil {
			if said := words(inner); said != "" {
				return said
			}
		}
		return strings.TrimSpace(v)
	case []any:
		var all []string
		for _, one := range v {
			if said := words(one); said != "" && !slices.Contains(all, said) {
				all = append(all, said)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		said := ""
		for _, name := range speaking {
			if said = words(v[name]); said != "" {
				break
			}
		}
		if where, ok := v["loc"].([]any); ok && said != "" { // of FastAPI
			said = strings.ReplaceAll(strings.Trim(fmt.Sprint(where), "[]"), " ", ".") + ": " + said
		}
		// OpenRouter repeats the words of the provider in a member.
		if more, ok := v["metadata"].(map[string]any); ok {
			if cause := words(more["raw"]); cause != "" && !strings.Contains(said, cause) {
				said = strings.TrimPrefix(said+": "+cause, ": ")
			}
		}
		return said
	}
	return ""
}

// codeOf is the status of HTTP that an answer repeats, or 0.
func codeOf(v any) int {
	members, ok := v.(map[string]any)
	if !ok {
		return 0
	}
	if inner := codeOf(members["error"]); inner > 0 {
		return inner
	}
	if code, ok := members["code"].(float64); ok && code >= 400 && code < 600 {
		return int(code)
	}
	return 0
}

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func title(page string) string {
	if m := pageTitle.FindStringSubmatch(page); m != nil {
		return m[1]
	}
	return ""
}

var (
	aboutLength = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size|(maximum|max) (model )?(context|sequence) length|` +
		`(context|n_ctx)[ _-]?(length|window|size|limit)?\b.{0,60}(exceed|overflow|too (long|small)|is full)|exceed.{0,60}\b(context|n_ctx)|` +
		`(prompt|input|request|conversation|message)s? (is |are )?too (long|large)|too many (input |prompt )?tokens|(input|prompt)[ _]tokens?( count)?.{0,60}exceed|` +
		`reduce (the|your) (length|message size|prompt)|entity too large|larger than the (maximum )?context|input length.{0,40}exceed`)
	lengths = []*regexp.Regexp{
		regexp.MustCompile(`"n_ctx"\s*:\s*([\d,]+)`),
		regexp.MustCompile(`(?i)max(?:imum)? (?:model )?(?:context|sequence|prompt|input) (?:length|size|window)[^\d]{0,40}([\d,]+)`),
		regexp.MustCompile(`(?i)> ([\d,]+) maximum`),
		regexp.MustCompile(`(?i)maximum number of (?:input )?tokens(?: allowed)?[^\d]{0,20}([\d,]+)`),
		regexp.MustCompile(`(?i)context (?:length|window|size|limit)[^\d]{0,40}?([\d,]{4,})`),
		regexp.MustCompile(`(?i)limit (?:of |is )?([\d,]{4,})`),
		regexp.MustCompile(`(?i)tokens[^\d]{0,20}(?:exceeds?|>)[^\d]{0,40}([\d,]{4,})`),
	}
)

// full reports whether the conversation is longer than the context window, or than one
// request may be.
func (f *failure) full() bool {
	return f.status != http.StatusTooManyRequests && f.status != http.StatusUnauthorized &&
		(f.status == http.StatusRequestEntityTooLarge || aboutLength.MatchString(f.raw))
}

// window is the size of the context window in tokens that the failure names, or 0.
func (f *failure) window() int {
	for _, length := range lengths {
		if m := length.FindStringSubmatch(f.raw); m != nil {
			if n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

var aboutKey = regexp.MustCompile(`(?i)api[ _-]?key (is )?(not valid|invalid|missing|incorrect|expired)|(invalid|incorrect|missing|no|wrong)[ _]api[ _-]?key|invalid_api_key|no auth credentials|no cookie auth`)

// login reports whether another key would help.
func (f *failure) login() bool {
	return f.status == http.StatusUnauthorized || (f.status == http.StatusBadRequest || f.status == http.StatusForbidden) && aboutKey.MatchString(f.raw)
}

// spent says that waiting does not help.
var spent = regexp.MustCompile(`insufficient_quota|insufficient_balance|billing_hard_limit|credit balance is too low|Insufficient credits`)

// refused is what endpoints call a request that is wrong as it is, where they have no status
// of HTTP for that: the answer had begun.
var refused = regexp.MustCompile(`(?i)"(type|code|status)"\s*:\s*"(invalid_?(request|argument|prompt|value|type)|bad_?request|(model_)?not_?found|authentication|permission|unsupported|content_(policy|filter)|failed_precondition)`)

// finalError is a failure that a retry does not help.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// retryAfter says whether a request is worth another try, and how long the endpoint
// wants to be left alone.
func retryAfter(err error) (time.Duration, bool) {
	var final *finalError
	var said *failure
	switch {
	case errors.As(err, &final):
		return 0, false
	case !errors.As(err, &said):
		return 0, true // the network
	case said.full(), spent.MatchString(said.raw):
		return 0, false
	case said.status == http.StatusOK:
		return said.after, !said.page && !refused.MatchString(said.raw)
	}
	return said.after, said.status == http.StatusTooManyRequests || said.status == http.StatusRequestTimeout || said.status >= 500
}

// waits is how long a refusal in words asks to wait: Google has a member for it, Groq a
// sentence.
var waits = regexp.MustCompile(`(?i)"retryDelay"\s*:\s*"([\d.]+s)"|try again in ([\dhms.]+s)\b`)

// pauseOf is how long the endpoint wants to be left alone. 0: it does not say.
func pauseOf(header http.Header, raw string) time.Duration {
	if after, err := time.ParseDuration(header.Get("Retry-After-Ms") + "ms"); err == nil {
		return after
	}
	after := header.Get("Retry-After")
	if seconds, err := time.ParseDuration(after + "s"); err == nil {
		return seconds
	}
	if at, err := http.ParseTime(after); err == nil {
		return time.Until(at)
	}
	if m := waits.FindStringSubmatch(raw); m != nil {
		if pause, err := time.ParseDuration(m[1] + m[2]); err == nil {
			return pause
		}
	}
	return 0
}
