package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	coder "github.com/coder/acp-go-sdk"

	"github.com/hermes-nvim/hermes/acp"
)

// Op is one thing to measure.
type Op struct {
	Group    string // the operation: Decode, Encode
	Case     string // the message, or mix for all of them
	Who      string // the program: hermes, a peer, or a lower bound
	Messages int    // that one Run handles
	Bytes    int    // of JSON that one Run handles
	Run      func() error
}

// Name is the path of the operation in the output of go test.
func (o Op) Name() string { return o.Group + "/" + o.Case + "/" + o.Who }

// Wire returns the operations between the text of messages and Go values.
// The lower bounds do less than any decoder can: json.Valid of the standard
// library only checks the grammar, split only finds the end of the line.
func Wire() ([]Op, error) {
	var ops []Op
	add := func(group, who string, run func(Message) (func() error, error)) error {
		all := Op{Group: group, Case: "mix", Who: who}
		var runs []func() error
		for _, m := range Messages() {
			r, err := run(m)
			if err == nil {
				err = r()
			}
			if err != nil {
				return fmt.Errorf("%s/%s/%s: %w", group, m.Name, who, err)
			}
			ops = append(ops, Op{group, m.Name, who, 1, len(m.JSON), r})
			runs = append(runs, r)
			all.Messages++
			all.Bytes += len(m.JSON)
		}
		all.Run = func() error {
			for _, r := range runs {
				if err := r(); err != nil {
					return err
				}
			}
			return nil
		}
		ops = append(ops, all)
		return nil
	}
	return ops, errors.Join(
		add("Decode", "hermes", decodeHermes),
		add("Decode", "coder", decodeCoder),
		add("Decode", "jsonvalid", valid),
		add("Decode", "split", split),
		add("Encode", "hermes", encodeHermes),
		add("Encode", "coder", encodeCoder),
	)
}

func decodeHermes(m Message) (func() error, error) {
	return func() error {
		var n acp.SessionNotification
		return n.UnmarshalJSON(m.JSON)
	}, nil
}

func decodeCoder(m Message) (func() error, error) {
	return func() error {
		var n coder.SessionNotification
		return json.Unmarshal(m.JSON, &n)
	}, nil
}

func valid(m Message) (func() error, error) {
	return func() error {
		if !json.Valid(m.JSON) {
			return errors.New("not JSON")
		}
		return nil
	}, nil
}

func split(m Message) (func() error, error) {
	line := append(bytes.Clone(m.JSON), '\n')
	src := bytes.NewReader(nil)
	rd := bufio.NewReaderSize(src, 64<<10)
	return func() error {
		src.Reset(line)
		rd.Reset(src)
		_, err := rd.ReadSlice('\n')
		return err
	}, nil
}

// encodeHermes appends to one buffer again and again, as the runtime does.
func encodeHermes(m Message) (func() error, error) {
	var n acp.SessionNotification
	if err := n.UnmarshalJSON(m.JSON); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, 64<<10)
	return func() error {
		buf = n.AppendJSON(buf[:0])
		return nil
	}, nil
}

// encodeCoder has no way to reuse a buffer.
func encodeCoder(m Message) (func() error, error) {
	var n coder.SessionNotification
	if err := json.Unmarshal(m.JSON, &n); err != nil {
		return nil, err
	}
	return func() error {
		_, err := json.Marshal(n)
		return err
	}, nil
}
