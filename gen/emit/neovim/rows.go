package neovim

import "encoding/json"

// EventRows is schema/overlay/events.json: the autocommand name of every message
// and of every local event.
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
	When  string   `json:"when"`

	Session bool `json:"session"` // one of the events of a session, though its source does not say so

	By   string               `json:"by"` // path of the member whose value selects the row
	Rows map[string]*EventRow `json:"rows"`

	Answer *Answer             `json:"answer"` // requests only
	Flat   map[string]FlatPath `json:"flat"`   // keys of the data that are not wire names
	Params []string            `json:"params"` // members of the request that a reply event repeats
	Data   []DataMember        `json:"data"`   // members of the data that are not in the schema
}

// FlatPath is where the value of a flat key comes from: member Of of the
// update, as it is, as JSON text ("json"), as a list with content blocks out of
// their wrapper ("blocks"), or as config options that also have their value and
// choices as older configurations expect them ("options").
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

// Answer turns the value that a user answers with into the result that the
// protocol requires. Each template is the wire result for one kind of value; "$"
// in it marks the place of the value. A table is the wire result itself; Table
// fills in missing members.
type Answer struct {
	Takes   string          `json:"takes"`
	Done    json.RawMessage `json:"done"`  // nil and true
	Empty   json.RawMessage `json:"empty"` // nil, false and ""
	String  json.RawMessage `json:"string"`
	Integer json.RawMessage `json:"integer"`
	Table   json.RawMessage `json:"table"`
	Any     json.RawMessage `json:"any"`
}
