// Package neovim writes all that the Neovim side has from the schema: the event
// table of the host and of Lua, types, the Lua API, help and documentation.
// What an event is called comes from schema/overlay/events.json.
package neovim

import (
	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// Files writes them. The rows must fit the schema, both ways.
func Files(s *ir.Spec, rows EventRows) ([]emit.Output, error) {
	events, err := table(s, &rows)
	if err != nil {
		return nil, err
	}
	var all []emit.Output
	for _, write := range []func() ([]emit.Output, error){
		func() ([]emit.Output, error) { return eventTables(events) },
		func() ([]emit.Output, error) { return eventTypes(s, events) },
		func() ([]emit.Output, error) { return luaCATS(s) },
		func() ([]emit.Output, error) { return luaAPI(s, events) },
		func() ([]emit.Output, error) { return vimdoc(s, events) },
		func() ([]emit.Output, error) { return markdown(s, events) },
	} {
		files, err := write()
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}
