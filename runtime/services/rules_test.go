package services

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

func deny(path string) permission.Rule {
	return permission.Rule{Action: permission.Deny, Scope: permission.Always, Path: path}
}

// T06, T13. What a rule denies is denied whether the agent asks first or not.
func TestRulesThatDenyBindTheFileMethods(t *testing.T) {
	t.Parallel()
	for how, opts := range map[string]Options{
		"disk": {},
		"approved": {ApproveWrite: func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
			return nil
		}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			policy, err := permission.Open("")
			must(t, err)
			opts.Policy, opts.MissingIsEmpty, opts.Agent = policy, true, "a"
			b := newBench(t, opts)
			must(t, os.MkdirAll(b.dir+"/real", 0o755))
			for _, name := range []string{".env", "real/secret", "open", "Makefile"} {
				must(t, os.WriteFile(filepath.Join(b.dir, name), []byte("secret"), 0o644))
			}
			for name, target := range map[string]string{"link": "real/secret", "folder": "real", ".envlink": "open", "alias": ".env"} {
				if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
					t.Skip(err)
				}
			}
			locked := deny("/**/Makefile")
			locked.Kind = acp.ToolKindEdit
			other := deny("open")
			other.Agent = "b"
			for _, r := range []permission.Rule{deny(".env*"), deny(b.dir + "/real/**"), locked, other, {Action: permission.Allow, Scope: permission.Always}} {
				must(t, policy.Add(t.Context(), r))
			}
			for name, want := range map[string]struct{ read, write bool }{
				".env": {}, ".env.new": {}, ".ENV": {}, "x/.env": {}, "alias": {}, ".envlink": {}, "real/secret": {}, "real/new": {}, "link": {}, "folder/secret": {},
				"open": {true, true}, "new": {true, true}, "Makefile": {true, false},
			} {
				check := func(method string, err error, allowed bool) {
					if denied := err != nil && strings.Contains(err.Error(), "denied by a permission rule (path "); denied == allowed {
						t.Errorf("%s %s: %v", method, name, err)
					} else if denied && (code(err) != acp.ErrorCodeInvalidParams || !strings.HasPrefix(err.Error(), method+" "+b.dir+"/"+name+": ")) {
						t.Errorf("%s %s: %v", method, name, err)
					}
				}
				read := &acp.ReadTextFileRequest{SessionID: "s", Path: b.dir + "/" + name}
				write := &acp.WriteTextFileRequest{SessionID: "s", Path: b.dir + "/" + name, Content: "new"}
				_, err := b.agent.ReadTextFile(t.Context(), read)
				check("fs/read_text_file", err, want.read)
				_, err = b.Readable(read)
				check("fs/read_text_file", err, want.read)
				_, err = b.Writable(t.Context(), write)
				check("fs/write_text_file", err, want.write)
				_, err = b.agent.WriteTextFile(t.Context(), write)
				check("fs/write_text_file", err, want.write)
			}
			for _, name := range []string{".env", "real/secret"} {
				if text, err := os.ReadFile(filepath.Join(b.dir, name)); err != nil || string(text) != "secret" {
					t.Errorf("%s holds %q, %v", name, text, err)
				}
			}
		})
	}
}

func TestARuleAllowsACommandInTheFoldersOfItsSessionAlone(t *testing.T) {
	t.Parallel()
	policy, err := permission.Open("")
	must(t, err)
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Always, Command: []string{"git", "status"}}))
	b := newBench(t, Options{Policy: policy})
	for cwd, want := range map[string]string{b.dir: "a", b.dir + "/sub": "a", filepath.Dir(b.dir): "cancelled", "/": "cancelled", b.dir + "/..": "cancelled"} {
		r, err := b.agent.RequestPermission(t.Context(), &acp.RequestPermissionRequest{
			SessionID: "s", Options: options,
			ToolCall: acp.ToolCallUpdate{ToolCallID: "c", Kind: acp.Some(acp.ToolKindExecute), RawInput: []byte(`{"command":"git status","cwd":"` + cwd + `"}`)},
		})
		must(t, err)
		if got := selected(r); got != want {
			t.Errorf("%s: %s, want %s", cwd, got, want)
		}
	}
}
