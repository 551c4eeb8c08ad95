package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Scoreboard is the outcome of many agents that were driven step by step, each by
// itself. It has a row for each agent and a column for each requirement.
type Scoreboard struct {
	Program string // that judged, with its version
	Rows    []Row
	// Fails is the severity from which findings fail; above lint.Error none does.
	Fails lint.Severity
}

// Row is the outcome of an agent. As JSON it can be read again.
type Row struct {
	Agent    string `json:"agent"`
	Version  string `json:"version,omitempty"` // as the agent's program says
	Settings string `json:"settings"`          // a hash of all that the run depends on, besides the version
	Report   string `json:"report,omitempty"`  // address of the agent's own HTML report
	Run      *Run   `json:"run,omitempty"`     // nil if the agent was not driven
	Problem  string `json:"problem,omitempty"` // why it was not
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Infos    int    `json:"infos"`
	Cut      bool   `json:"cut,omitempty"` // the time of all agents was over before the run was
}

// Fill takes the outcome of the agent's run.
func (r *Row) Fill(o Outcome) {
	for _, f := range o.Files {
		r.Errors, r.Warnings, r.Infos = r.Errors+f.Errors, r.Warnings+f.Warnings, r.Infos+f.Infos
		if f.Run != nil {
			r.Run = f.Run
		}
	}
}

func (r *Row) file() File {
	return File{Name: r.Agent, Report: &lint.Report{Errors: r.Errors, Warnings: r.Warnings, Infos: r.Infos}, Run: r.Run, Problem: r.Problem}
}

// Outcome says how a run of this agent alone ends.
func (s *Scoreboard) Outcome(r *Row) Outcome {
	o := Sum([]File{r.file()}, s.Fails)
	if r.Problem != "" {
		o.Why = clean(r.Problem) // without the name, which the row has
	}
	return o
}

// Sum says how the run of all agents ends.
func (s *Scoreboard) Sum() Outcome {
	var files []File
	var n [unknown + 1]int
	for i := range s.Rows {
		files = append(files, s.Rows[i].file())
		n[s.Outcome(&s.Rows[i]).Status]++
	}
	o := Sum(files, s.Fails)
	if o.Status != passed {
		o.Why = fmt.Sprintf("of %s %d passed, %d failed, and %d could not be judged", plural(len(files), "agent"), n[passed], n[failed], n[unknown])
	}
	return o
}

// Requirement is a column of a scoreboard: a step that an agent plays.
type Requirement struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Tier         string   `json:"tier"`
	Requirements []string `json:"requirements,omitempty"` // of the official test kit that it covers
}

// Requirements are the columns: the steps of all agents, in the order in which they are
// played.
func (s *Scoreboard) Requirements() (all []Requirement) {
	for i := range s.Rows {
		at := 0
		if s.Rows[i].Run == nil {
			continue
		}
		for _, step := range s.Rows[i].Run.Steps {
			n := slices.IndexFunc(all, func(r Requirement) bool { return r.ID == step.ID })
			if n < 0 {
				n = at // after the step before it
				all = slices.Insert(all, n, Requirement{step.ID, step.Title, step.Tier, step.Requirements})
			}
			at = n + 1
		}
	}
	return all
}

// cell is how an agent did a step, nil if it did not play it.
func (r *Row) cell(id string) *Step {
	if r.Run == nil {
		return nil
	}
	if i := slices.IndexFunc(r.Run.Steps, func(s Step) bool { return s.ID == id }); i >= 0 {
		return &r.Run.Steps[i]
	}
	return nil
}

// link is the address of a message in the agent's own report, or of that if there is none.
func (r *Row) link(message int) string {
	if message == 0 {
		return r.Report
	}
	return fmt.Sprintf("%s#m%d", r.Report, message)
}

// rated is a row as JSON, with how it ends.
type rated struct {
	Row
	Status int    `json:"status"`
	Result string `json:"result"`
}

type scoreboardJSON struct {
	Program      string        `json:"program"`
	Status       int           `json:"status"`
	Result       string        `json:"result"`
	Requirements []Requirement `json:"requirements"`
	Agents       []rated       `json:"agents"`
}

// JSON writes the scoreboard as one object.
func (s *Scoreboard) JSON(to io.Writer) error {
	sum := s.Sum()
	all := scoreboardJSON{Program: s.Program, Status: sum.Status, Result: sum.String(), Requirements: s.Requirements(), Agents: []rated{}}
	for i := range s.Rows {
		o := s.Outcome(&s.Rows[i])
		all.Agents = append(all.Agents, rated{s.Rows[i], o.Status, o.String()})
	}
	w := bufio.NewWriter(to)
	e := json.NewEncoder(ascii{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	return w.Flush()
}

// ReadScoreboard reads the rows of what JSON has written.
func ReadScoreboard(from io.Reader) ([]Row, error) {
	var all scoreboardJSON
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("not a scoreboard of hermes lint run --matrix: %w", err)
	}
	var rows []Row
	for _, one := range all.Agents {
		rows = append(rows, one.Row)
	}
	return rows, nil
}
