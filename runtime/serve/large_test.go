package serve_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/serve"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// reader answers with files of any size: the name of a file is its size.
type reader struct{ testagent.Client }

func (*reader) ReadTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	var n int
	if _, err := fmt.Sscanf(filepath.Base(p.Path), "%d", &n); err != nil {
		return nil, err
	}
	return &acp.ReadTextFileResponse{Content: strings.Repeat("x", n)}, nil
}

func (*reader) WriteTextFile(context.Context, *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return &acp.WriteTextFileResponse{}, nil
}

// A message above the limit is dropped, in both directions. Its sender gets an error about the
// limit, and all sessions go on.
func TestAMessageAboveTheLimitCostsOnlyItself(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	for _, test := range []struct{ name, address, scheme string }{
		{"unix", "unix:" + filepath.Join(sockdir.New(t), "s"), "unix"},
		{"tcp", "tcp:127.0.0.1:0", "tcp"},
		{"http", "http://127.0.0.1:0", "http"},
		{"ws", "http://127.0.0.1:0/acp", "ws"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := new(serve.Server)
			s.SetMaxMessage(limit)
			url, _ := start(t, s, test.address)
			if test.scheme == "ws" {
				url = "ws" + strings.TrimPrefix(url, "http")
			}
			ctx := patience.Context(t, patience.Soon)
			type session struct {
				conn   *rpc.Conn
				client *reader
				id     acp.SessionID
			}
			open := func(conn *rpc.Conn, client *reader) session {
				r, err := acp.Agent{Conn: conn}.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
				if err != nil {
					t.Fatal(err)
				}
				return session{conn, client, r.SessionID}
			}
			connect := func() (*rpc.Conn, *reader) {
				tr, err := dial(t, url, access.Client{Token: s.Guard.Token})
				if err != nil {
					t.Fatal(err)
				}
				client := new(reader)
				conn := rpc.NewConn(tr, acp.ClientSide(client), rpc.Options{})
				t.Cleanup(func() { conn.Close() })
				if _, err := (acp.Agent{Conn: conn}).Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
					t.Fatal(err)
				}
				return conn, client
			}
			conn, client := connect()
			one := open(conn, client)
			others := []session{open(conn, client), open(connect())}
			said := func(s session, prompt string) (text string, err error) {
				s.client.Forget(s.id)
				_, err = testagent.Prompt(ctx, s.conn, s.id, prompt)
				return strings.Join(s.client.Texts(s.id), "\n"), err
			}
			words := fmt.Sprintf("above the limit of %d bytes", limit)
			for what, prompt := range map[string]string{
				"a request of the client":        "SAY " + strings.Repeat("x", limit),
				"an answer of the client":        fmt.Sprint("READ /w/", limit),
				"a request of the agent":         fmt.Sprint("BIGWRITE /w/a ", limit),
				"a notification of the agent":    fmt.Sprint("FILL 1 ", limit, "\nSAY after it"),
				"an answer that just fits":       "READ /w/1000",
				"a request that fits and is not": fmt.Sprint("BIGWRITE /w/a 1000\nBIGWRITE /w/a ", 2*limit),
			} {
				text, err := said(one, prompt)
				switch what {
				case "a request of the client":
					if err == nil || !strings.Contains(err.Error(), words) {
						t.Errorf("%s: %v", what, err)
					}
				case "a notification of the agent":
					if err != nil || text != "after it" {
						t.Errorf("%s: %q, %v", what, text, err)
					}
				case "an answer that just fits":
					if err != nil || !strings.HasPrefix(text, `READ {"content":"xxx`) {
						t.Errorf("%s: %.60q, %v", what, text, err)
					}
				default:
					if err != nil || strings.Count(text, words) != 1 {
						t.Errorf("%s: %.200q, %v", what, text, err)
					}
				}
				for i, other := range append(others, one) {
					if text, err := said(other, "SAY on"); text != "on" || err != nil {
						t.Fatalf("after %s session %d says %q, %v", what, i, text, err)
					}
				}
			}
		})
	}
}
