package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK reads structured content and schemas into Go's values, which rounds large numbers,
// fails on larger ones and loses the order of members. So they go into the extension data
// beside them, as the text that the server wrote. Schemas stay where they were, too, because
// the SDK looks into them.

// exactKey is the member of the extension data.
const exactKey = "hermes.exact"

// exactOf returns the text.
func exactOf(meta sdk.Meta) (text string, ok bool) {
	text, ok = meta[exactKey].(string)
	return text, ok
}

// withExact adds the texts to the result of a call. A result that it cannot read stays as
// it is; the SDK reports what is wrong with it.
func withExact(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte("structuredContent")) && !bytes.Contains(result, []byte("inputSchema")) {
		return result
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) != nil {
		return result
	}
	keep(members, "structuredContent")
	delete(members, "structuredContent")
	var tools []map[string]json.RawMessage
	if json.Unmarshal(members["tools"], &tools) == nil {
		for _, t := range tools {
			keep(t, "inputSchema")
		}
		members["tools"] = encode(tools)
	}
	return encode(members)
}

// keep puts the text of a member into the extension data.
func keep(members map[string]json.RawMessage, name string) {
	raw, ok := members[name]
	var text bytes.Buffer
	if !ok || json.Compact(&text, raw) != nil {
		return
	}
	meta := map[string]json.RawMessage{}
	if json.Unmarshal(members["_meta"], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[exactKey] = encode(text.String())
	members["_meta"] = encode(meta)
}

// encode is JSON of what was read from JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was valid
	}
	return b
}

// exactTransport adds the texts to what comes from a program.
type exactTransport struct{ sdk.Transport }

func (t exactTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return exactConnection{c}, err
}

type exactConnection struct{ sdk.Connection }

func (c exactConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if answer, ok := m.(*jsonrpc.Response); ok {
		answer.Result = withExact(answer.Result)
	}
	return m, err
}

// exactBody adds the texts to the body of an answer of HTTP, whose connection the SDK does
// not let others wrap.
func exactBody(header http.Header, body io.ReadCloser) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		defer body.Close()
		var err error
		if strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			err = exactEvents(writer, bufio.NewReader(body))
		} else {
			var all []byte
			all, err = io.ReadAll(body)
			writer.Write(exactMessage(all)) // half of a body, too
		}
		writer.CloseWithError(err)
	}()
	return both{reader, body}
}

// both is a body that is read through a pipe.
type both struct {
	*io.PipeReader
	body io.Closer
}

func (b both) Close() error { return errors.Join(b.PipeReader.Close(), b.body.Close()) }

// exactEvents copies a stream of events. The data of one may have several lines.
func exactEvents(w io.Writer, lines *bufio.Reader) error {
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		if more, ok := bytes.CutPrefix(line, []byte("data:")); ok && err == nil {
			data = append(data, more...)
			continue
		}
		if data != nil {
			if _, err := w.Write(event(data)); err != nil {
				return err
			}
			data = nil
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// event is the data of an event in as many lines as it has.
func event(data []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(exactMessage(data)) {
		b.WriteString("data:")
		b.Write(line)
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("\n")) {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// exactMessage adds the texts to a message.
func exactMessage(message []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil || members["result"] == nil {
		return message
	}
	result := withExact(members["result"])
	if bytes.Equal(result, members["result"]) {
		return message
	}
	members["result"] = result
	return encode(members)
}
