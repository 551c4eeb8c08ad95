package emit

import "github.com/hermes-nvim/hermes/gen/ir"

// Neovim writes all that the Neovim side has from the schema: the event table
// of the host and of Lua, types, the Lua API, help and documentation.
func Neovim(s *ir.Spec, w Words, rows *EventRows) ([]Output, error) {
	events, err := EventTable(s, rows)
	if err != nil {
		return nil, err
	}
	var all []Output
	for _, emit := range []func() ([]Output, error){
		func() ([]Output, error) { return Events(events) },
		func() ([]Output, error) { return EventTypes(s, w, events) },
		func() ([]Output, error) { return LuaCATS(s, w) },
		func() ([]Output, error) { return LuaAPI(s, w, events) },
		func() ([]Output, error) { return Vimdoc(s, w, events) },
		func() ([]Output, error) { return EventsMarkdown(s, w, events) },
	} {
		files, err := emit()
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}
