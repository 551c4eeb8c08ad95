package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// EventRows is schema/overlay/events.json: what every message and every local
// occurrence is called as an autocommand.
type EventRows struct {
	Requests      map[string]*EventRow `json:"requests"`      // by method the agent calls; "*" is any other
	Notifications map[string]*EventRow `json:"notifications"` // by method, session/update excepted; "*" is any other
	Updates       map[string]*EventRow `json:"updates"`       // by session/update variant; "*" is any other
	Replies       map[string]*EventRow `json:"replies"`       // by method the agent answers
	Prompt        map[string]*EventRow `json:"prompt"`        // by type of a content block that is sent; "*" is any other
	Local         []*EventRow          `json:"local"`         // not caused by one message alone
}

// EventRow names one event, or one for each variant of a member (By, Rows).
type EventRow struct {
	Name  string   `json:"name"`
	Alias []string `json:"alias"`
	Seed  bool     `json:"seed"` // named by the README that Hermes was built from
	When  string   `json:"when"`

	By   string               `json:"by"` // path of the member whose value selects the row
	Rows map[string]*EventRow `json:"rows"`

	Answer *Answer             `json:"answer"` // requests only
	Flat   map[string]FlatPath `json:"flat"`   // keys of the data that are not wire names
	Params []string            `json:"params"` // members of the request that a reply event repeats
	Data   []DataMember        `json:"data"`   // what the data holds when no schema says so
}

// FlatPath is where the value of a flat key comes from: member Of of the
// update, as it is, as JSON text ("json") or as a list in which content blocks
// stand without their wrapper ("blocks").
type FlatPath struct {
	Of string `json:"of"`
	As string `json:"as"`
}

// DataMember is one member of an event's data; a name ending in "?" is optional.
type DataMember struct {
	Name string `json:"name"`
	Type string `json:"type"` // LuaCATS
	Doc  string `json:"doc"`
}

// Answer turns the value that a user answers with into the result the protocol
// wants. Each template is the wire result for one kind of value; "$" in it
// stands for the value. A table is the wire result itself, Table filling in
// what it lacks.
type Answer struct {
	Takes   string          `json:"takes"`
	Nil     json.RawMessage `json:"nil"`
	Empty   json.RawMessage `json:"empty"` // nil and ""
	String  json.RawMessage `json:"string"`
	Integer json.RawMessage `json:"integer"`
	Table   json.RawMessage `json:"table"`
	Any     json.RawMessage `json:"any"`
}

// ParseEventRows reads events.json. A member it does not know, or one that
// occurs twice, is an error: a row that nobody reads would be lost in silence.
func ParseEventRows(data []byte) (*EventRows, error) {
	if err := noDuplicates(data); err != nil {
		return nil, fmt.Errorf("events.json: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	rows := new(EventRows)
	if err := d.Decode(rows); err != nil {
		return nil, fmt.Errorf("events.json: %w", err)
	}
	return rows, nil
}

func noDuplicates(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	var walk func(path string) error
	walk = func(path string) error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		delim, ok := t.(json.Delim)
		if !ok {
			return nil
		}
		seen := map[string]bool{}
		for i := 0; d.More(); i++ {
			at := fmt.Sprintf("%s/%d", path, i)
			if delim == '{' {
				k, err := d.Token()
				if err != nil {
					return err
				}
				key := k.(string)
				at = path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
				if seen[key] {
					return fmt.Errorf("%s: this member occurs twice", at)
				}
				seen[key] = true
			}
			if err := walk(at); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
	if err := walk("#"); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("text after the document")
	}
	return nil
}
