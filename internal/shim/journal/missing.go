package journal

import (
	"fmt"
	"io"
)

// Missing is what a record lacks. The zero value means a complete record.
type Missing struct {
	// Limit says what the record cannot have because of how changes are found, or is "".
	Limit  string `json:"limit,omitempty"`
	Count  int    `json:"count"`  // how often something else may have changed unseen
	Reason string `json:"reason"` // of the last time
}

// Add counts n changes that were not seen. whole says that the reason is a limit of the
// whole record.
func (m *Missing) Add(n int, reason string, whole bool) {
	if whole {
		m.Limit = reason
		return
	}
	m.Count, m.Reason = m.Count+n, reason
}

// String describes what the record lacks.
func (m Missing) String() string {
	text := m.Limit
	if m.Count > 0 && text != "" {
		text += "; "
	}
	switch {
	case m.Count == 1:
		text += "1 change was not recorded, because " + m.Reason
	case m.Count > 1:
		text += fmt.Sprintf("%d changes were not recorded, because %s", m.Count, m.Reason)
	case text == "":
		text = "record complete"
	}
	return text
}

// MissingIn returns what the journal in a folder lacks, as far as it is written.
func MissingIn(dir string) (m Missing, err error) {
	r, err := Open(dir)
	if err != nil {
		return m, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return m, nil
		case err != nil:
			return m, err
		case e.Op == Unseen:
			m.Add(1, e.Text, e.Whole)
		}
	}
}
