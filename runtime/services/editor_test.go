package services_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// editor is a client that has some files open.
type editor struct {
	*services.Services
	buffers map[string]string // by the path with links resolved
}

func (e editor) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	at, err := e.Readable(p)
	if err != nil {
		return nil, err
	}
	text, open := e.buffers[at.Real]
	if !open {
		return e.Services.ReadTextFile(ctx, p)
	}
	lines := files.Range{Line: p.Line, Limit: p.Limit}
	e.Shown(p.SessionID, at.Real, text, lines)
	return &acp.ReadTextFileResponse{Content: lines.Of(text)}, nil
}

func (e editor) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	at, err := e.Writable(ctx, p)
	if err != nil {
		return nil, err
	}
	text, open := e.buffers[at.Real]
	if !open {
		_, err := e.WriteFile(p, at)
		return &acp.WriteTextFileResponse{}, err
	}
	if text, err = e.Rebase(p.SessionID, at.Real, text, p.Content); err != nil {
		return nil, err // the user has changed the same lines
	}
	e.buffers[at.Real] = text
	e.Shown(p.SessionID, at.Real, p.Content, files.Range{})
	return &acp.WriteTextFileResponse{}, nil
}

func newEditor(t *testing.T, opts services.Options) (e editor, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e = editor{services.New(opts), map[string]string{}}
	t.Cleanup(func() { e.Close() })
	if err := e.OpenSession("s", []string{dir}); err != nil {
		t.Fatal(err)
	}
	return e, dir
}

func (e editor) read(t *testing.T, path string, lines files.Range) (string, error) {
	r, err := e.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: path, Line: lines.Line, Limit: lines.Limit})
	if err != nil {
		return "", err
	}
	return r.Content, nil
}

func (e editor) write(t *testing.T, path, text string) error {
	_, err := e.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{SessionID: "s", Path: path, Content: text})
	return err
}

func refused(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.ErrorCodeInvalidParams
}

func TestBuffersObeyTheSameRoots(t *testing.T) {
	t.Parallel()
	e, dir := newEditor(t, services.Options{
		ApproveWrite: func(_ context.Context, p *acp.WriteTextFileRequest, at files.Location, why *files.ProtectedError) error {
			if at.Name == "Makefile" && p.Content == "new\n" {
				return nil
			}
			return errors.New("the user said no")
		},
	})
	e.buffers["/etc/passwd"], e.buffers[dir+"/open"], e.buffers[dir+"/package.json"] = "outside", "1\n2\n", "old"
	if text, err := e.read(t, dir+"/open", files.Range{Limit: acp.Some[uint32](1)}); text != "1\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := e.write(t, dir+"/open", "new\n"); err != nil || e.buffers[dir+"/open"] != "new\n" {
		t.Errorf("%q, %v", e.buffers[dir+"/open"], err)
	}
	if _, err := os.Stat(dir + "/open"); err == nil {
		t.Error("written to disk, not to the buffer")
	}
	for _, path := range []string{"/etc/passwd", dir + "/package.json", dir + "/.git/config"} {
		old := e.buffers[path]
		if err := e.write(t, path, "new\n"); !refused(err) || e.buffers[path] != old {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := e.read(t, "/etc/passwd", files.Range{}); !refused(err) {
		t.Errorf("%q, %v", text, err)
	}
	if err := e.write(t, dir+"/package.json", ""); err == nil || !strings.Contains(err.Error(), "the user said no") {
		t.Error(err)
	}
	for _, name := range []string{"/plain", "/Makefile"} {
		if err := e.write(t, dir+name, "new\n"); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(dir + name); err != nil || string(text) != "new\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestWhatABufferHoldsIsMergedByWhatTheAgentRead(t *testing.T) {
	t.Parallel()
	e, dir := newEditor(t, services.Options{})
	path := dir + "/a.txt"
	e.buffers[path] = "a\nb\n"
	if _, err := e.read(t, path, files.Range{}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		user, agent, want string
		overlap           bool
	}{
		{user: "mine\na\nb\n", agent: "a\nB\n", want: "mine\na\nB\n"},
		{agent: "a\nB\nc\n", want: "mine\na\nB\nc\n"},
		{agent: "x\nB\nc\n", want: "mine\nx\nB\nc\n"},
		{user: "mine\ny\nB\nc\n", agent: "z\nB\nc\n", want: "mine\ny\nB\nc\n", overlap: true},
	} {
		if step.user != "" {
			e.buffers[path] = step.user
		}
		if err := e.write(t, path, step.agent); errors.Is(err, services.ErrOverlap) != step.overlap || (err != nil) != step.overlap || e.buffers[path] != step.want {
			t.Errorf("%q: %q, %v", step.agent, e.buffers[path], err)
		}
	}
}

// A write that Writable has allowed goes to that place, or fails.
func TestWhatIsProtectedOnlyLaterIsNotWritten(t *testing.T) {
	t.Parallel()
	e, dir := newEditor(t, services.Options{})
	if err := os.MkdirAll(dir+"/plain", 0o755); err != nil {
		t.Fatal(err)
	}
	p := &acp.WriteTextFileRequest{SessionID: "s", Path: dir + "/plain/config", Content: "new\n"}
	at, err := e.Writable(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(dir+"/plain"), os.Mkdir(dir+"/.git", 0o755), os.Symlink(".git", dir+"/plain")); err != nil {
		t.Skip(err)
	}
	if _, err := e.WriteFile(p, at); err == nil {
		t.Error("written elsewhere than allowed")
	}
	if _, err := os.Stat(dir + "/.git/config"); err == nil {
		t.Error("there is a file in .git")
	}
}
