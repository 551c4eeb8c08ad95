// Command check checks the messages of recordings against the JSON schemas of the
// protocol: check session.jsonl. The exit status is 1 if one is wrong.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/hermes-nvim/hermes/acp/validate"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: check RECORDING...")
	}
	wrong := 0
	for _, path := range os.Args[1:] {
		rec, err := trace.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		wrong += check(rec)
	}
	if wrong > 0 {
		log.Fatalf("check: %d mistakes", wrong)
	}
}

// check prints what is wrong with a recording, and counts it.
func check(rec *trace.Recording) (wrong int) {
	type call struct { // a request, by the side that gets the answer
		by validate.Side
		id string
	}
	v, methods := validate.New(validate.V1, validate.Strict), map[call]string{}
	for _, r := range rec.Records {
		from, to := validate.Client, validate.Agent
		switch r.Direction {
		case trace.ToAgent:
		case trace.ToClient:
			from, to = to, from
		default:
			continue // standard error and notes
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(r.Bytes, &m) // unreadable text is a finding below
		about, answers := m.Method, ""
		if m.Method == "" {
			answers = methods[call{to, string(m.ID)}]
			about = "answer to " + answers
		} else if m.ID != nil {
			methods[call{from, string(m.ID)}] = m.Method
		}
		findings, err := v.Message(to, r.Bytes, answers)
		if err != nil {
			findings = []validate.Finding{{Rule: "message", Expected: "one that can be judged", Got: err.Error()}}
		}
		for _, f := range findings {
			fmt.Printf("%s:%d: %s %s: %s\n", rec.Name, r.Line, from, about, f)
		}
		wrong += len(findings)
	}
	return wrong
}
