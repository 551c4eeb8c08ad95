package reviews

import (
	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Kinds of messages about files under review, for Lua's buffers.
const (
	KindHold    = "hold"
	KindLook    = "look"
	KindRelease = "release"
	KindHunks   = "hunks"
	KindApply   = "apply"
	KindBarrier = "barrier"
)

// Hold names a file that a buffer is to be held for.
type Hold struct {
	Path  string `json:"path"`
	Again bool   `json:"again,omitempty"` // the edits of the buffer did not fit: its whole text is wanted
	origin
}

// Look says that the disk of a held file has changed, and by whom.
type Look struct {
	Path string `json:"path"`
	origin
}

// origin is what an author is to Lua.
type origin struct {
	Agent    string        `json:"agent,omitempty"`
	Session  acp.SessionID `json:"sessionId,omitempty"`
	ToolCall string        `json:"toolCallId,omitempty"`
}

// Release names a file that no buffer is to be held for.
type Release struct {
	Path string `json:"path"`
}

// Hunks are those of a held file, as it was at a tick of its buffer.
type Hunks struct {
	Path  string     `json:"path"`
	Tick  int64      `json:"tick"`
	Hunks []hunkJSON `json:"hunks"`
}

// Apply has Lua make a change of a decision in a held buffer: edits, the whole text, or the end
// of the file. The answer is review.applied.
type Apply struct {
	ID     int64      `json:"id"`
	Path   string     `json:"path"`
	Tick   int64      `json:"tick"` // of the buffer for which the change was made
	Edits  []editJSON `json:"edits,omitempty"`
	Text   *string    `json:"text,omitempty"`
	Delete bool       `json:"delete,omitempty"`
	Mode   uint32     `json:"mode,omitempty"` // of the file from now on
}

// Barrier has Lua send what it has not sent yet, and then review.barrier.
type Barrier struct {
	ID   int64 `json:"id"`
	Look bool  `json:"look"` // buffers are to show what is new on the disk first
}

func (Hold) Kind() string    { return KindHold }
func (Look) Kind() string    { return KindLook }
func (Release) Kind() string { return KindRelease }
func (Hunks) Kind() string   { return KindHunks }
func (Apply) Kind() string   { return KindApply }
func (Barrier) Kind() string { return KindBarrier }

// place is where a question looks: in one review, or in all.
type place struct {
	Root    string        `json:"root,omitempty"` // of the review
	Path    string        `json:"path,omitempty"` // a file under review
	Agent   string        `json:"agent,omitempty"`
	Session acp.SessionID `json:"sessionId,omitempty"` // what it has changed
	Cwd     string        `json:"cwd,omitempty"`       // of who asks: the review of it, if nothing else is named
}

// none is the result of what has none.
type none struct{}

func (at place) where() place { return at }

// placed is an operation that has a place.
type placed interface{ where() place }

// openOp opens the review of a folder, unless a folder above it has one.
type openOp struct {
	Root string `json:"root"`
}

type opened struct {
	Root string `json:"root"` // of the review
}

// filesOp lists the files with pending hunks.
type filesOp struct {
	place
	From int  `json:"from,omitempty"` // how many entries are passed over
	Open bool `json:"open,omitempty"` // opens the review of the folder first
}

type filesList struct {
	Files     []fileJSON        `json:"files"`
	More      int               `json:"more"` // files after these
	Total     int               `json:"total"`
	Hunks     int               `json:"hunks"`
	Added     int               `json:"added"`
	Removed   int               `json:"removed"`
	Names     map[string]string `json:"names"`     // of sessions: what was asked first
	Elsewhere []string          `json:"elsewhere"` // the reviews that another program has
	Unseen    int               `json:"unseen"`    // gaps in the record
}

// hunksOp lists the pending hunks of a file, or of all.
type hunksOp struct {
	place
	From int `json:"from,omitempty"` // how many entries are passed over
}

type hunksList struct {
	Hunks []hunkJSON `json:"hunks"`
	More  int        `json:"more"` // hunks after these
	Total int        `json:"total"`
}

// checkpointsOp lists the checkpoints.
type checkpointsOp struct{ place }

type checkpointsList struct {
	Checkpoints []checkpointJSON `json:"checkpoints"`
}

type checkpointJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"sessionId,omitempty"`
	Turn    string `json:"turn,omitempty"`
	At      string `json:"at"`
	Root    string `json:"root"`
}

// turnOp lists the files that the last turn of a session has changed.
type turnOp struct{ place }

type turnFiles struct {
	Paths []string `json:"paths"`
}

// baseOp asks for a file without and with its pending hunks.
type baseOp struct{ place }

type baseStates struct {
	Base    stateJSON `json:"base"`
	Current stateJSON `json:"current"`
}

// blameOp asks whose the lines of a file are.
type blameOp struct{ place }

type blameLines struct {
	Lines []blameJSON `json:"lines"`
}

type blameJSON struct {
	Start   int        `json:"start"`
	End     int        `json:"end"`
	Author  authorJSON `json:"author"`
	Pending bool       `json:"pending"`
}

// changeOp asks for the texts of one change.
type changeOp struct {
	place
	Change review.ChangeID `json:"change"`
}

type changeStates struct {
	Path   string     `json:"path"`
	Before stateJSON  `json:"before"`
	After  stateJSON  `json:"after"`
	Author authorJSON `json:"author"`
}

// acceptOp accepts hunks.
type acceptOp struct{ selected }

// rejectOp takes hunks back.
type rejectOp struct {
	selected
	Force bool `json:"force,omitempty"` // with the lines that the user has changed in them
}

// selected says which hunks a decision is about.
type selected struct {
	place
	Hunk    uint64          `json:"hunk,omitempty"`
	Version review.ChangeID `json:"version,omitempty"` // of the hunk as it was shown
	Turn    string          `json:"turn,omitempty"`
}

// undoOp takes a decision back.
type undoOp struct {
	place
	Decision uint32 `json:"decision,omitempty"` // 0: the last
}

// decisionMade is what a decision did: the files, those with an error first, and how many
// there are, because Neovim does not take any number of them.
type decisionMade struct {
	Decision uint32    `json:"decision"`
	Files    []outcome `json:"files"`
	Total    int       `json:"total"`
	Failed   int       `json:"failed"`
	More     int       `json:"more"` // files after these
}

// restoreOp goes back to a checkpoint, or shows what that would change.
type restoreOp struct {
	place
	Checkpoint string   `json:"checkpoint"`
	Paths      []string `json:"paths,omitempty"`      // of the files that go back; none: all
	Everything bool     `json:"everything,omitempty"` // also what the user has changed
	Preview    bool     `json:"preview,omitempty"`
	Shown      string   `json:"shown,omitempty"` // the sum of the preview that the user has seen
}

type restored struct {
	Files      []outcome `json:"files"`
	Shown      string    `json:"shown,omitempty"`      // of a preview: its sum
	Decision   uint32    `json:"decision,omitempty"`   // that undo takes back
	Checkpoint string    `json:"checkpoint,omitempty"` // made before
}

// outcome is what a decision did to a file.
type outcome struct {
	Path       string  `json:"path"`
	Before     string  `json:"before,omitempty"`
	After      string  `json:"after,omitempty"`
	Added      int     `json:"added,omitempty"`
	Removed    int     `json:"removed,omitempty"`
	Diff       string  `json:"diff,omitempty"`
	Cut        bool    `json:"cut,omitempty"` // the diff is not whole
	Incomplete bool    `json:"incomplete,omitempty"`
	Error      *string `json:"error,omitempty"`
}

// promptedOp makes the checkpoint of a prompt to a program in a shim, before it is sent to the
// terminal.
type promptedOp struct {
	place
	Text string `json:"text"`
}

// programOp asks which agent and session a process in a shim is.
type programOp struct {
	place
	PID int `json:"pid"`
}

type programOf struct {
	Agent   string `json:"agent"`
	Session string `json:"sessionId"`
}

// processOp asks which process in a shim a session is.
type processOp struct{ place }

type processOf struct {
	PID int `json:"pid"` // 0: none
}

// holdOp gives the text of a buffer that is held from now on, or anew.
type holdOp struct {
	Path     string `json:"path"`
	Text     string `json:"text"`
	Tick     int64  `json:"tick"`
	Undo     bool   `json:"undo,omitempty"`     // it comes from undo or redo
	Reloaded bool   `json:"reloaded,omitempty"` // it comes from the disk
}

// releaseOp lets a buffer go.
type releaseOp struct {
	Path string `json:"path"`
}

// editedOp tells what the user has changed in a held buffer.
type editedOp struct {
	Path  string     `json:"path"`
	Edits []editJSON `json:"edits"`
	Tick  int64      `json:"tick"`
}

// editJSON replaces the lines from Start to before End.
type editJSON struct {
	Start int      `json:"start"`
	End   int      `json:"end"`
	Lines []string `json:"lines"`
	Undo  bool     `json:"undo,omitempty"` // it comes from undo or redo
}

// changedOp tells of a change of an agent, or of the disk, that has reached a buffer. Without a
// text, the host looks at the disk.
type changedOp struct {
	Path string `json:"path"`
	origin
	Source string  `json:"source,omitempty"` // write, or disk
	Before *string `json:"before,omitempty"`
	Text   *string `json:"text,omitempty"`
	Disk   *string `json:"disk,omitempty"` // what a merge has taken from it
	Hold   bool    `json:"hold,omitempty"` // from now on
	Tick   int64   `json:"tick"`
}

// disk is what a buffer has taken from the disk.
func (op changedOp) disk() string {
	if op.Disk != nil {
		return *op.Disk
	}
	return *op.Text
}

// wroteOp tells of a file that the user has written.
type wroteOp struct {
	Path   string  `json:"path"`
	Before *string `json:"before,omitempty"` // its text before; there was no file if only text is there
	Text   *string `json:"text,omitempty"`   // its text after, unless it is that of a buffer that is held or cannot be sent
}

// appliedOp answers apply.
type appliedOp struct {
	ID    int64  `json:"id"`
	Path  string `json:"path"`
	OK    bool   `json:"ok,omitempty"`
	Stale bool   `json:"stale,omitempty"` // the buffer has another text by now
	Error string `json:"error,omitempty"`
	Tick  int64  `json:"tick,omitempty"`
}

// barrierOp says that everything before it has been sent.
type barrierOp struct {
	ID int64 `json:"id"`
}

// rangeJSON is the lines from Start to before End.
type rangeJSON struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// authorJSON says whose a change is.
type authorJSON struct {
	Agent    string `json:"agent,omitempty"`
	Session  string `json:"sessionId,omitempty"`
	Turn     string `json:"turn,omitempty"`
	ToolCall string `json:"toolCallId,omitempty"`
	Source   string `json:"source,omitempty"`
	Inferred bool   `json:"inferred,omitempty"`
	At       string `json:"at,omitempty"`
}

// hunkJSON is a pending change.
type hunkJSON struct {
	ID       uint64          `json:"id"`
	Version  review.ChangeID `json:"version"`
	Path     string          `json:"path"`
	Kind     string          `json:"kind"`
	Agent    string          `json:"agent,omitempty"`
	Session  string          `json:"sessionId"`
	Base     rangeJSON       `json:"base"`
	Current  rangeJSON       `json:"current"`
	Old      []string        `json:"old"`
	New      []string        `json:"new,omitempty"`
	OldLines int             `json:"oldLines"`
	NewLines int             `json:"newLines"`
	User     []int           `json:"user"`
	Authors  []authorJSON    `json:"authors"`
	Was      string          `json:"was,omitempty"`
	Is       string          `json:"is,omitempty"`
	Others   []string        `json:"others,omitempty"`
}

// fileJSON is a file with pending hunks.
type fileJSON struct {
	Path     string   `json:"path"`
	Root     string   `json:"root"`
	Base     string   `json:"base"`
	Current  string   `json:"current"`
	Hunks    int      `json:"hunks"`
	Added    int      `json:"added"`
	Removed  int      `json:"removed"`
	Sessions []string `json:"sessions"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
	Partial  bool     `json:"partial,omitempty"` // in lists: its sessions may have changed more than is recorded
}

// stateJSON is what a file was or is.
type stateJSON struct {
	Kind   string  `json:"kind"`
	Text   *string `json:"text,omitempty"`
	Mode   uint32  `json:"mode,omitempty"`
	Target string  `json:"target,omitempty"`
}
