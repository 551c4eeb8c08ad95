// Package neovim writes everything that the Neovim side has from the schema: the
// event table of the host and of Lua, types, the Lua API, help and documentation.
// The names of the events come from schema/overlay/events.json.
package neovim

import (
	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// Files writes them. Every row must match the schema, and every message a row.
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
