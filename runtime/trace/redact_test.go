package trace

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// The canary has no shape of its own: only its place or its name gives it away.
const canary = "canary sings"

var canaries = []struct {
	place  string // Definition.member of the protocol, or what it is
	secret string
	line   string // SECRET stands for the secret
}{
	{"EnvVariable.value", canary, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"m","command":"c","args":[],"env":[{"name":"A","value":"SECRET"}]}]}}`},
	{"HttpHeader.value", canary, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"type":"http","name":"m","url":"http://x","headers":[{"name":"X-Thing","value":"SECRET"}]}]}}`},
	{"AuthMethodTerminal.env", canary, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"authMethods":[{"type":"terminal","id":"t","name":"T","args":[],"env":{"LOGIN":"SECRET"}}]}}`},
	{"AuthMethodTerminal.env", canary, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"authMethods":[{"type":"terminal","methodId":"t","name":"T","env":[{"name":"LOGIN","value":"SECRET"}]}]}}`},
	{"answer to an elicitation of version 2", canary, `{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"answer":["SECRET"]},"_meta":{}}}`},
	{"permission for a command", "zz99yy88", `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"title":"t","subject":{"type":"command","command":"A_TOKEN=SECRET make","cwd":"/w"}}}`},
	{"SetProviderRequest.headers", canary, `{"jsonrpc":"2.0","id":1,"method":"providers/set","params":{"id":"p","headers":{"X-Thing":"SECRET"}}}`},
	{"environment of a terminal", canary, `{"jsonrpc":"2.0","id":3,"method":"terminal/create","params":{"sessionId":"s","command":"x","env":[{"value":"SECRET","name":"A"}]}}`},
	{"ElicitationAcceptAction.content", canary, `{"jsonrpc":"2.0","id":3,"result":{"action":"accept","content":{"answer":"SECRET"}}}`},
	{"numeric answer to an elicitation", "987654", `{"jsonrpc":"2.0","id":3,"result":{"action":"accept","content":{"pin":SECRET}}}`},
	{"name in _meta", canary, `{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"k","_meta":{"gateway":{"api-key":"SECRET"}}}}`},
	{"name in raw input", canary, `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"rawInput":{"userPassword":["SECRET"]}}}}`},
	{"cookies", canary, `{"jsonrpc":"2.0","method":"_x","params":{"Cookie":"SECRET"}}`},
	{"prompt", "sk-ant-api03-abcdefghij0123456789", `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"prompt":[{"type":"text","text":"use\nSECRET please"}]}}`},
	{"error data", "abcdef0123456789", `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"x","data":"401 for Authorization: Bearer SECRET, retry"}}`},
	{"JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", `{"jsonrpc":"2.0","method":"_x","params":{"note":"got SECRET"}}`},
	{"URL", "hunter2", `{"jsonrpc":"2.0","method":"_x","params":{"remote":"https://me:SECRET@host/x"}}`},
	{"private key in a file", "MIIEvQIBADANBg", `{"jsonrpc":"2.0","id":3,"result":{"content":"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"}}`},
	{"nested JSON", "ab12cd34ef", `{"jsonrpc":"2.0","method":"_x","params":{"body":"{\"access_token\":\"SECRET\"}"}}`},
	{"long random text", "q8Zr2Lk9Vx0PbT4mWn7Yc1Jd5Gf3HsAe6Ui", `{"jsonrpc":"2.0","method":"_x","params":{"state":"see SECRET"}}`},
	{"standard error", "ghp_0123456789abcdefghijABCDEF", "cloning with SECRET"},
	{"line that is no JSON", "pass1234", `{"jsonrpc":"2.0","password":"SECRET"`},
	{"assignment", "zz99yy88", "export FOO_API_KEY=SECRET"},
	{"argument of an MCP server", canary, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[{"name":"m","command":"c","args":["-y","--api-key","SECRET"]}]}}`},
	{"argument of a terminal", canary, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"command":"c","args":["--password=SECRET", "x"]}}`},
	{"words of a command", canary, `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"rawInput":{"command":["c", "--token", "SECRET"]}}}}`},
	{"shell line", "zz99yy88", `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"command":"c --password SECRET x"}}`},
	{"shell line with quotes", "zz99yy88", `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"command":"c --api-key \"SECRET\" x"}}`},
	{"cookie header", "sid=abc; other=def", "> Cookie: SECRET"},
	{"bytes that are no UTF-8", "xoxb-1234567890-abc", "\xff SECRET"},
	{"name of a member", "sk-ant-api03-abcdefghij0123456789", `{"jsonrpc":"2.0","method":"_x","params":{"keys":{"SECRET":true}}}`},
	{"names of two members", "ghp_0123456789abcdefghij", `{"jsonrpc":"2.0","method":"_x","params":{"keys":{"SECRETa":1,"SECRETb":2}}}`},
	{"name with an escape", canary, `{"jsonrpc":"2.0","method":"_x","params":{"\u0074oken":"SECRET"}}`},
	{"environment by another name", canary, `{"jsonrpc":"2.0","method":"_x","params":{"environment":{"A":"SECRET"}}}`},
	{"environment in a list", canary, `{"jsonrpc":"2.0","method":"_x","params":{"envVars":["A=SECRET"]}}`},
}

// Secrets that the text around them names.
var spoken = map[string]string{
	"export DB_PASSWORD=SECRET":                         "lettersonly",
	"DB_PASS=SECRET make":                               "lettersonly",
	"SECRET_KEY=SECRET":                                 "lettersonly",
	"SECRET_KEY_BASE=SECRET":                            "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
	"private_key = SECRET":                              "0x4c0883a69102937d6231471b5dbb6204",
	"aws SECRET":                                        "9vXq2LmZ/4bR7sWc0+HyPd1nFa8U/JgI3oKtQ5x",
	"curl -sS -u me:SECRET https://x":                   "hunter",
	"curl --user \"me:SECRET\" https://x":               "hunter",
	"mysql -h db -pSECRET app":                          "hunter",
	"machine example.com login me password SECRET":      "hunter",
	"X-Auth: SECRET":                                    "lettersonly",
	"X-Auth-Key: SECRET":                                "lettersonly",
	"AGE-SECRET-KEY-SECRET":                             "1QQPQZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	"key shpat_SECRET":                                  "0123456789abcdef0123456789abcdef",
	"https://hooks.slack.com/services/SECRET":           "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
	"https://discord.com/api/webhooks/123456789/SECRET": "abcdefghijklmnopqrstuvwxyz0123456789",
	"bot MTIzNDU2Nzg5MDEyMzQ1Njc4.SECRET":               "GhIjKl.abcdefghijklmnopqrstuvwxyz01",
}

func TestSecretsThatTheTextItselfNamesAreHidden(t *testing.T) {
	t.Parallel()
	for text, secret := range spoken {
		text = text[:strings.LastIndex(text, "SECRET")] + secret + text[strings.LastIndex(text, "SECRET")+len("SECRET"):]
		quoted, _ := json.Marshal(text)
		for _, in := range []string{text, `{"jsonrpc":"2.0","method":"_x","params":{"note":` + string(quoted) + `}}`} {
			if got, _ := Redact([]byte(in)); strings.Contains(string(got), secret) {
				t.Errorf("%s is kept as %s", in, got)
			}
		}
	}
}

// The same list is in docs/cli.md in other words.
func TestMembersWithNamesOfSecretsAreHidden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"authorization", "auth", "token", "access_token", "api-key", "apiKeys", "password", "userPassword1", "pass", "pwd", "passphrase",
		"secret", "clientSecret", "secretKeyBase", "ssh_key", "private_key", "tokenValue", "bearerTokens", "cookie", "credentials", "jwt",
	} {
		in := `{"jsonrpc":"2.0","method":"_x","params":{"` + name + `":"` + canary + `"}}`
		if got, _ := Redact([]byte(in)); strings.Contains(string(got), canary) {
			t.Errorf("%s is kept", name)
		}
	}
}

func TestSecretsAreHiddenWhereverTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range canaries {
		in := strings.ReplaceAll(c.line, "SECRET", c.secret)
		got, changed := Redact([]byte(in))
		if !changed || strings.Contains(string(got), c.secret) || !strings.Contains(string(got), hidden) {
			t.Errorf("%s: %s", c.place, got)
		}
		if json.Valid([]byte(in)) && !json.Valid(got) {
			t.Errorf("%s: no longer JSON: %s", c.place, got)
		}
		if again, changed := Redact(got); changed && string(again) != string(got) {
			t.Errorf("%s: not stable: %s", c.place, again)
		}
	}
}

// The list of secret positions that String methods hide is the specification of
// what is hidden by position here.
func TestEverySecretPositionOfTheProtocolHasACanary(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../schema/overlay/quirks.json")
	if err != nil {
		t.Fatal(err)
	}
	var quirks struct{ Secrets []string }
	if err := json.Unmarshal(data, &quirks); err != nil || len(quirks.Secrets) == 0 {
		t.Fatal(err, quirks)
	}
	for _, position := range quirks.Secrets {
		found := false
		for _, c := range canaries {
			found = found || c.place == position
		}
		if !found {
			t.Errorf("no canary at %s", position)
		}
	}
}

func TestTextWithoutSecretsStaysByteForByte(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"jsonrpc": "2.0", "id": 0, "result": {"sessionId": "8265d245-96d2-48f8-8bfb-8b5018c22d1a"}}`,
		`{"params":{"sessionId":"q8Zr2Lk9Vx0PbT4mWn7Yc1Jd5Gf3HsAe6Ui","path":"/home/me/Projects/Some1/Deep2/Folder3/TestThing4.go"}}`,
		`{"result":{"content":"password: string\nfunc TestTheTokenIsReadFromTheEnvironmentOnce(t *testing.T) {}"}}`,
		`{"params":{"usage":{"totalTokens":123456,"inputTokens":1},"maxTokens":4000}}`,
		`{"params":{"text":"the bearer of bad news; basic functionality; sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}`,
		`{"params":{"env":[{"name":"PATH","value":""}]},"a":[],"b":{},"c":[1,true,null,-2.5e3]}`,
		`{"params":{"clientCapabilities":{"auth":{"terminal":true}},"pwd":"/home/me","environment":"production","authMethods":[{"id":"key","name":"API key"}],"tokenCount":12,"passed":7}}`,
		`{"params":{"text":"PASSED=12 passes=3; password=password; pass the salt; mysql -p asks; curl -u me asks; see http://x/services/a"}}`,
		"node_modules/.pnpm/lib0/x86_64/Some1/Deep2/Folder3/TestThing4/index.d.ts src/runtime/transport/httpstream/serverconn.go",
		"/tmp/TestApproveDecidesWhatTheAgentMayDo1466352148/001/script.jsonl:14: expected TestApproveDecidesWhatTheAgentMayDo1466352148",
		"Loaded 3 tools in 12 ms", "",
	} {
		if got, changed := Redact([]byte(line)); changed || string(got) != line {
			t.Errorf("%s\nbecame %s", line, got)
		}
	}
}

// An agent may send text that is meant to keep the recorder busy.
func TestTextFullOfBeginningsIsScannedQuickly(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"sk-", "token", "token=", "bearer ", "-----BEGIN ", "://", "authorization", "cookie:", "eyJ", "a1B2"} {
		text := []byte(strings.Repeat(part, 1<<20/len(part))) // from each beginning to the end would take minutes
		patience.Ends(t, part, func() bool { _, changed := Redact(text); return changed })
	}
	long := "use sk-" + strings.Repeat("ab1", 500) + " now"
	if got, _ := Redact([]byte(long)); string(got) != "use [redacted] now" {
		t.Errorf("%s", got)
	}
}

func TestCommandsHideFlagsNamedLikeSecrets(t *testing.T) {
	t.Parallel()
	got := redactCommand([]string{"agent", "--token", "a b", "--api-key=cd", "--verbose", "--password", "--acp"})
	if want := "agent --token [redacted] --api-key=[redacted] --verbose --password --acp"; strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}

func FuzzRedactKeepsMessagesMessages(f *testing.F) {
	for _, c := range canaries {
		f.Add([]byte(strings.ReplaceAll(c.line, "SECRET", c.secret)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, changed := Redact(b)
		if isMessage(b) && !json.Valid(got) {
			t.Errorf("%q became %q", b, got)
		}
		if !changed && string(got) != string(b) {
			t.Errorf("%q changed", b)
		}
	})
}

func TestSecretsInBase64AreHidden(t *testing.T) {
	t.Parallel()
	const secret = "export A_TOKEN=zz99yy88\n"
	encode := base64.StdEncoding.EncodeToString
	for name, c := range map[string]struct{ line, in, want string }{
		"output of a terminal":  {`{"method":"session/update","params":{"update":{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"DATA"}}}`, secret, "export A_TOKEN=[redacted]\n"},
		"all of its output":     {`{"method":"session/update","params":{"update":{"terminalId":"t","output":{"data":"DATA"}}}}`, "\xa4 " + secret + "\xc3", "\xa4 export A_TOKEN=[redacted]\n\xc3"},
		"contents of a file":    {`{"method":"session/prompt","params":{"prompt":[{"type":"resource","resource":{"uri":"file:///a","blob":"DATA"}}]}}`, secret, "export A_TOKEN=[redacted]\n"},
		"output without any":    {`{"method":"session/update","params":{"update":{"terminalId":"t","data":"DATA"}}}`, strings.Repeat("an ordinary line of a build\n", 50), strings.Repeat("an ordinary line of a build\n", 50)},
		"an id in the output":   {`{"method":"session/update","params":{"update":{"terminalId":"t","data":"DATA"}}}`, "q8Zr2Lk9Vx0PbT4mWn7Yc1Jd5Gf3HsAe6Ui", "[redacted]"},
		"something else's data": {`{"method":"_x","params":{"data":"DATA"}}`, "x", "x"},
	} {
		got, _ := Redact([]byte(strings.ReplaceAll(c.line, "DATA", encode([]byte(c.in)))))
		if want := strings.ReplaceAll(c.line, "DATA", encode([]byte(c.want))); string(got) != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
	for name, data := range map[string]string{"bytes": encode([]byte(strings.Repeat("\x00\x01\xff\xfe\x89PNG\x12\x9a\xd1\x03\x7f\x00\x45\xc8\xee\x91\x22\xb7\x3c\x5d", 3))), "no base64": "q8Zr2Lk9Vx0PbT4mWn7Yc1Jd5Gf3HsAe6Ui!"} {
		got, _ := Redact([]byte(`{"params":{"update":{"data":"` + data + `"}}}`))
		if want, _ := redactString([]byte(data), true); string(got) != `{"params":{"update":{"data":"`+string(want)+`"}}}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheSecretOfAShapeIsAGroupOfItsExpression(t *testing.T) {
	for _, s := range find().shapes {
		if groups := s.re.NumSubexp(); s.group > groups {
			t.Errorf("%s: group %d of %d", s.expr, s.group, groups)
		}
	}
}
