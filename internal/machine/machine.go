// Package machine keeps a state that only the events of a table change.
package machine

// Table says which state an event leads to, by the state before. An event
// changes nothing in a state that it does not list.
type Table[Event, State comparable] map[Event]map[State]State

// Machine is in one state. It is not safe for concurrent use.
type Machine[Event, State comparable] struct {
	table Table[Event, State]
	state State
}

// New returns a Machine in its first state.
func New[Event, State comparable](table Table[Event, State], first State) Machine[Event, State] {
	return Machine[Event, State]{table, first}
}

// State returns the state the machine is in.
func (m *Machine[Event, State]) State() State { return m.state }

// On follows the event, and returns the states before and after.
func (m *Machine[Event, State]) On(e Event) (from, to State) {
	from = m.state
	if next, listed := m.table[e][from]; listed {
		m.state = next
	}
	return from, m.state
}
