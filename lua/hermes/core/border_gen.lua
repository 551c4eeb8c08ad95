-- Made of the Go types of the host by: go test ./plugin/host -run Border -update
---@meta _

-- The messages between Neovim and the host: what operations take (hermes.op) and end with
-- (hermes.result), and what the host sends besides events (hermes.item).

---Lists the agents that connect knows by name. AgentList follows.
---@class hermes.op.Agents
---@field update? boolean # read the registry first
---@field url? string # or file, in place of the registry of the protocol

---@class hermes.result.Agents
---@field agents hermes.border.Known[]
---@field skipped? string[] # entries of the registry, and why

---Ends the turn of a session, and drops the prompts that wait.
---@class hermes.op.Cancel
---@field agent string # empty: the one that has the session
---@field sessionId string

---@class hermes.result.Cancel
---@field cancelled boolean # a turn ran
---@field dropped integer # prompts

---Starts an agent, or reaches one that runs. Its members win over the setup of the agent, and the setup wins over the preset.
---@class hermes.op.Connect
---@field agent string
---@field command? string
---@field args? string[]
---@field env? table<string, string>
---@field cwd? string
---@field pass_env? string[] # names; a final * stands for any rest
---@field inherit_env? boolean
---@field protocol? string
---@field path? string # of a Unix socket
---@field host? string
---@field port? integer
---@field tls? boolean # of tcp; certificates as the system trusts them
---@field url? string
---@field token? string
---@field headers? table<string, string>
---@field quirks? hermes.border.Quirks
---@field reconnect? boolean # in place of Config.Reconnect
---@field terminal_access? string # in place of Permissions.Terminal
---@field shared? boolean # its sessions, with its own terminal
---@field paths? table<string, string> # the agent's names of folders, by their names here
---@field sandbox? any # of the agent and its commands
---@field shim? boolean # what it changes is reported by a shim
---@field folders? string[] # of the session that would begin now; for the sandbox and the shim
---@field sandbox_default? boolean # the sandbox is not about this agent alone

---Ends agents.
---@class hermes.op.Disconnect
---@field agents? string[] # none means all

---Says what Neovim has changed in its environment. The host makes the same changes in its own, so that agents and commands get them, and programs are found where Neovim finds them.
---@class hermes.op.Environ
---@field set? string[] # NAME=value each, of any bytes
---@field unset? string[] # names

---Ends a command of an agent that the host runs.
---@class hermes.op.Kill
---@field agent string
---@field sessionId string
---@field terminalId string

---Asks for the names of the files below a folder.
---@class hermes.op.List
---@field root string

---@class hermes.result.List
---@field files string # one on a line: one long string costs Neovim far less than many short ones
---@field complete boolean # these are all

---Asks which files a text names for a session.
---@class hermes.op.Mentions
---@field agent string
---@field sessionId string
---@field text string
---@field limit? integer # bytes of a file whose text is wanted; 0: none is

---@class hermes.result.Mentions
---@field mentions hermes.border.Mention[]

---Asks what a buffer is to hold: when an agent writes its file, as a request says, or when the file has changed.
---@class hermes.op.Merge
---@field requestId? string # of the write
---@field base? string # what both had in common; nil: there was no file
---@field ours string # what the buffer holds
---@field theirs? string # what the file has now

---The text that a buffer is to hold. Where both changed the same lines it has the lines of the buffer, and the conflicts name them. A write has a problem instead, for the agent.
---@class hermes.result.Merge
---@field text? string
---@field conflicts? hermes.border.Conflict[]
---@field problem? string

---A call of an agent, or a notification to it.
---@class hermes.op.Notify
---@field agent string
---@field method string
---@field params? any
---@field force? boolean # whatever the agent has announced
---@field steer? string # of a prompt: how it corrects the turn that runs

---Changes a prompt that waits for the turn before it.
---@class hermes.op.Queue
---@field prompt string # id
---@field change string # edit, remove, move, or send: next, and cancel the turn that runs
---@field place? integer # of a move: 1 is the next
---@field params? any # of an edit
---@field force? boolean # of an edit: whatever the agent has announced

---What a Change did.
---@class hermes.result.Queue
---@field cancelled boolean # the turn that ran

---A call of an agent, or a notification to it.
---@class hermes.op.Request
---@field agent string
---@field method string
---@field params? any
---@field force? boolean # whatever the agent has announced
---@field steer? string # of a prompt: how it corrects the turn that runs

---What Neovim says to a request of an agent: a result, an error, or that the host is to do what it does by default.
---@class hermes.op.Respond
---@field result? any
---@field error? hermes.acp.Error
---@field default? boolean
---@field by string # handler, listener, default, respond, timeout
---@field whole? string # the text of the file after a read of some lines, and after a write unless it is what the agent wrote.
---@field seen? boolean # Seen says that the user has answered, with all that decides on the screen.

---Accepts hunks.
---@class hermes.op.ReviewAccept
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field hunk? integer
---@field version? integer # of the hunk as it was shown
---@field turn? string

---What a decision did: the files, those with an error first, and how many there are, because Neovim does not take any number of them.
---@class hermes.result.ReviewAccept
---@field decision integer
---@field files hermes.border.Outcome[]
---@field total integer
---@field failed integer
---@field more integer # files after these

---Answers apply.
---@class hermes.op.ReviewApplied
---@field id integer
---@field path string
---@field ok? boolean
---@field stale? boolean # the buffer has another text by now
---@field error? string
---@field tick? integer

---Says that everything before it has been sent.
---@class hermes.op.ReviewBarrier
---@field id integer

---Asks for a file without and with its pending hunks.
---@class hermes.op.ReviewBase
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named

---@class hermes.result.ReviewBase
---@field base hermes.border.State
---@field current hermes.border.State

---Asks whose the lines of a file are.
---@class hermes.op.ReviewBlame
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named

---@class hermes.result.ReviewBlame
---@field lines hermes.border.Blame[]

---Asks for the texts of one change.
---@class hermes.op.ReviewChange
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field change integer

---@class hermes.result.ReviewChange
---@field path string
---@field before hermes.border.State
---@field after hermes.border.State
---@field author hermes.border.Author

---Tells of a change of an agent, or of the disk, that has reached a buffer. Without a text, the host looks at the disk.
---@class hermes.op.ReviewChanged
---@field path string
---@field agent? string
---@field sessionId? string
---@field toolCallId? string
---@field source? string # write, or disk
---@field before? string
---@field text? string
---@field disk? string # what a merge has taken from it
---@field hold? boolean # from now on
---@field tick integer

---Lists the checkpoints.
---@class hermes.op.ReviewCheckpoints
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named

---@class hermes.result.ReviewCheckpoints
---@field checkpoints hermes.border.Checkpoint[]

---Tells what the user has changed in a held buffer.
---@class hermes.op.ReviewEdited
---@field path string
---@field edits hermes.border.Edit[]
---@field tick integer

---Lists the files with pending hunks.
---@class hermes.op.ReviewFiles
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field from? integer # how many entries are passed over
---@field open? boolean # opens the review of the folder first

---@class hermes.result.ReviewFiles
---@field files hermes.border.File[]
---@field more integer # files after these
---@field total integer
---@field hunks integer
---@field added integer
---@field removed integer
---@field names table<string, string> # of sessions: what was asked first
---@field elsewhere string[] # the reviews that another program has
---@field unseen integer # gaps in the record

---Gives the text of a buffer that is held from now on, or anew.
---@class hermes.op.ReviewHold
---@field path string
---@field text string
---@field tick integer
---@field undo? boolean # it comes from undo or redo
---@field reloaded? boolean # it comes from the disk

---Lists the pending hunks of a file, or of all.
---@class hermes.op.ReviewHunks
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field from? integer # how many entries are passed over

---@class hermes.result.ReviewHunks
---@field hunks hermes.border.Hunk[]
---@field more integer # hunks after these
---@field total integer

---Opens the review of a folder, unless a folder above it has one.
---@class hermes.op.ReviewOpen
---@field root string

---@class hermes.result.ReviewOpen
---@field root string # of the review

---Asks which process in a shim a session is.
---@class hermes.op.ReviewProcess
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named

---@class hermes.result.ReviewProcess
---@field pid integer # 0: none

---Asks which agent and session a process in a shim is.
---@class hermes.op.ReviewProgram
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field pid integer

---@class hermes.result.ReviewProgram
---@field agent string
---@field sessionId string

---Makes the checkpoint of a prompt to a program in a shim, before it is sent to the terminal.
---@class hermes.op.ReviewPrompted
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field text string

---The result of what has none.
---@class hermes.result.ReviewPrompted

---Takes hunks back.
---@class hermes.op.ReviewReject
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field hunk? integer
---@field version? integer # of the hunk as it was shown
---@field turn? string
---@field force? boolean # with the lines that the user has changed in them

---What a decision did: the files, those with an error first, and how many there are, because Neovim does not take any number of them.
---@class hermes.result.ReviewReject
---@field decision integer
---@field files hermes.border.Outcome[]
---@field total integer
---@field failed integer
---@field more integer # files after these

---Lets a buffer go.
---@class hermes.op.ReviewRelease
---@field path string

---Goes back to a checkpoint, or shows what that would change.
---@class hermes.op.ReviewRestore
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field checkpoint string
---@field paths? string[] # of the files that go back; none: all
---@field everything? boolean # also what the user has changed
---@field preview? boolean
---@field shown? string # the sum of the preview that the user has seen

---@class hermes.result.ReviewRestore
---@field files hermes.border.Outcome[]
---@field shown? string # of a preview: its sum
---@field decision? integer # that undo takes back
---@field checkpoint? string # made before

---Lists the files that the last turn of a session has changed.
---@class hermes.op.ReviewTurn
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named

---@class hermes.result.ReviewTurn
---@field paths string[]

---Takes a decision back.
---@class hermes.op.ReviewUndo
---@field root? string # of the review
---@field path? string # a file under review
---@field agent? string
---@field sessionId? string # what it has changed
---@field cwd? string # of who asks: the review of it, if nothing else is named
---@field decision? integer # 0: the last

---What a decision did: the files, those with an error first, and how many there are, because Neovim does not take any number of them.
---@class hermes.result.ReviewUndo
---@field decision integer
---@field files hermes.border.Outcome[]
---@field total integer
---@field failed integer
---@field more integer # files after these

---Tells of a file that the user has written.
---@class hermes.op.ReviewWrote
---@field path string
---@field before? string # its text before; there was no file if only text is there
---@field text? string # its text after, unless it is that of a buffer that is held or cannot be sent

---Adds or removes a permission rule, or asks for them.
---@class hermes.op.Rules
---@field add? hermes.border.Rule
---@field remove? hermes.border.Rule

---@class hermes.result.Rules
---@field rules hermes.border.Rule[] # that there are now

---What Lua's setup gives the host.
---@class hermes.op.Setup
---@field agents? table<string, hermes.border.Command>
---@field permissions? hermes.border.Permissions
---@field timeouts? hermes.border.Timeouts
---@field reconnect? hermes.border.Reconnect
---@field review? hermes.border.Config
---@field traffic boolean # somebody listens to TrafficMessage
---@field raw_traffic boolean # secrets stay in it

---Has Lua make a change of a decision in a held buffer: edits, the whole text, or the end of the file. The answer is review.applied.
---@class hermes.item.Apply
---@field id integer
---@field path string
---@field tick integer # of the buffer for which the change was made
---@field edits? hermes.border.Edit[]
---@field text? string
---@field delete? boolean
---@field mode? integer # of the file from now on

---A request of an agent that needs an answer: the operation respond, whose id is the id of the request.
---@class hermes.item.Ask
---@field requestId string
---@field name string # of the event
---@field method string
---@field agent string
---@field refused? string # why the default must not serve it
---@field data table<string, any> # of the event

---Has Lua send what it has not sent yet, and then review.barrier.
---@class hermes.item.Barrier
---@field id integer
---@field look boolean # buffers are to show what is new on the disk first

---The end of an operation: what became of it, or why it failed.
---@class hermes.item.Done
---@field id string
---@field result? any # JSON (json.RawMessage), or a *wire.Object
---@field error? table<string, any>

---The first message, once.
---@class hermes.item.Hello
---@field version string
---@field protocol integer # must be the one of lua/hermes/core/rpc.lua

---Names a file that a buffer is to be held for.
---@class hermes.item.Hold
---@field path string
---@field again? boolean # the edits of the buffer did not fit: its whole text is wanted
---@field agent? string
---@field sessionId? string
---@field toolCallId? string

---Those of a held file, as it was at a tick of its buffer.
---@class hermes.item.Hunks
---@field path string
---@field tick integer
---@field hunks hermes.border.Hunk[]

---Has Lua ask the user and then run a program in a terminal. Its exit status ends the operation.
---@class hermes.item.Login
---@field id string
---@field agent string
---@field methodId string
---@field name string # of the method
---@field command string[]
---@field wrapper string[] # put before it: the sandbox of the agent
---@field env table<string, string> # all of it
---@field adds table<string, string> # what the method adds to the agent's
---@field cwd? string

---Says that the disk of a held file has changed, and by whom.
---@class hermes.item.Look
---@field path string
---@field agent? string
---@field sessionId? string
---@field toolCallId? string

---A line for the user.
---@class hermes.item.Notice
---@field level string # error, warn or info
---@field message string

---Names a file that no buffer is to be held for.
---@class hermes.item.Release
---@field path string

---Says that a request needs no answer any more, and why.
---@class hermes.item.Withdraw
---@field requestId string
---@field reason string

---An agent that connect knows by name.
---@class hermes.border.Known
---@field name string
---@field source string # setup, preset or registry
---@field title? string
---@field website? string
---@field install? string # what to do when the program is missing
---@field login? string # how one logs in
---@field protocol? string # of one that runs elsewhere
---@field command? string[] # of one that is started here
---@field installed? boolean # the same

---What to do differently for an agent.
---@class hermes.border.Quirks
---@field missing_file? string # the answer to reading a file that is not there: "error", or "empty" for agents that create a file only after they have read it.
---@field one_session? boolean # OneSession: the agent mixes its sessions up and gets a process for each.
---@field ignores_eof? boolean # IgnoresEOF: the agent does not end with its input.
---@field unannounced? boolean # Unannounced: the agent supports more than it has announced.
---@field elsewhere? boolean # Elsewhere: the user also prompts the agent elsewhere.

---A file that a prompt names with "@", and what there is.
---@class hermes.border.Mention
---@field name string # as the prompt has it
---@field path? string # with the links below the session's folders resolved
---@field real? string # Path with the links of the session's folder resolved, too
---@field short? string # Path below the session's folder, if it is there
---@field outside? boolean # it is in none of the session's folders
---@field size integer
---@field text? string # nil: not wanted, not text, or too large
---@field error? string # why it is not attached

---@class hermes.border.Conflict
---@field first integer # line
---@field ours integer # lines of it
---@field theirs integer

---What a decision did to a file.
---@class hermes.border.Outcome
---@field path string
---@field before? string
---@field after? string
---@field added? integer
---@field removed? integer
---@field diff? string
---@field cut? boolean # the diff is not whole
---@field incomplete? boolean
---@field error? string

---What a file was or is.
---@class hermes.border.State
---@field kind string
---@field text? string
---@field mode? integer
---@field target? string

---@class hermes.border.Blame
---@field start integer
---@field end integer
---@field author hermes.border.Author
---@field pending boolean

---Says whose a change is.
---@class hermes.border.Author
---@field agent? string
---@field sessionId? string
---@field turn? string
---@field toolCallId? string
---@field source? string
---@field inferred? boolean
---@field at? string

---@class hermes.border.Checkpoint
---@field id string
---@field name string
---@field agent? string
---@field sessionId? string
---@field turn? string
---@field at string
---@field root string

---Replaces the lines from Start to before End.
---@class hermes.border.Edit
---@field start integer
---@field end integer
---@field lines string[]
---@field undo? boolean # it comes from undo or redo

---A file with pending hunks.
---@class hermes.border.File
---@field path string
---@field root string
---@field base string
---@field current string
---@field hunks integer
---@field added integer
---@field removed integer
---@field sessions string[]
---@field from? string
---@field to? string
---@field partial? boolean # in lists: its sessions may have changed more than is recorded

---A pending change.
---@class hermes.border.Hunk
---@field id integer
---@field version integer
---@field path string
---@field kind string
---@field agent? string
---@field sessionId string
---@field base hermes.border.Range
---@field current hermes.border.Range
---@field old string[]
---@field new? string[]
---@field oldLines integer
---@field newLines integer
---@field user integer[]
---@field authors hermes.border.Author[]
---@field was? string
---@field is? string
---@field others? string[]

---Decides the requests that match all of its members. An empty member matches everything, with exceptions for rules that allow. Only a rule that names the kinds other and switch_mode allows them, because they say nothing about what would happen; no rule allows unknown kinds, nor a change of files that the request does not name. A command that comes with an environment, or runs in an unusual folder, needs a rule with Env or Cwd. A rule that allows matches only what is certain: a rule for a path has to know every path and where its links lead, a rule for a command the plain words of the command. If a rule that denies might match, the user is asked.
---@class hermes.border.Rule
---@field action string
---@field scope string
---@field agent? string
---@field session? string # required if Scope is Session
---@field kind? string
---@field path? string # a pattern for all paths of the request: * and ? within a name, ** for any number of names. A pattern that does not begin with a slash matches at any depth. A rule with a path never allows a command.
---@field command? string[] # Command are the first words of the command, such as git status.
---@field exact? boolean # Exact allows the command only with these words and no others.
---@field env? string[] # Env are the names of variables that may come with an allowed command, with any value, besides harmless ones such as CI=1.
---@field cwd? string # a pattern, like Path, for the folder of an allowed command. Without it the folder must be one of the session and must not configure git.

---How an agent is started or reached.
---@class hermes.border.Command
---@field command? string
---@field args? string[]
---@field env? table<string, string>
---@field cwd? string
---@field pass_env? string[] # names; a final * stands for any rest
---@field inherit_env? boolean
---@field protocol? string
---@field path? string # of a Unix socket
---@field host? string
---@field port? integer
---@field tls? boolean # of tcp; certificates as the system trusts them
---@field url? string
---@field token? string
---@field headers? table<string, string>
---@field quirks? hermes.border.Quirks
---@field reconnect? boolean # in place of Config.Reconnect
---@field terminal_access? string # in place of Permissions.Terminal
---@field shared? boolean # its sessions, with its own terminal
---@field paths? table<string, string> # the agent's names of folders, by their names here
---@field sandbox? any # of the agent and its commands
---@field shim? boolean # what it changes is reported by a shim

---Switch whole capabilities off; nil means on.
---@class hermes.border.Permissions
---@field fs_read_access? boolean
---@field fs_write_access? boolean
---@field terminal_access? string
---@field request_permissions? boolean
---@field elicitation? boolean
---@field hard_links? boolean # files with other names, too
---@field rules? hermes.border.Rule[] # in force while the configuration has them
---@field remember? string # file of the rules that are kept; empty: none is

---How long things may take.
---@class hermes.border.Timeouts
---@field initialize? integer
---@field new_session? integer
---@field cancel? integer
---@field silence? integer

---Says which connections are re-established when they break: those to agents that run elsewhere, unless false, and those to agents started here.
---@class hermes.border.Reconnect
---@field remote? boolean
---@field process? boolean

---The part of the configuration about reviews; nil is off.
---@class hermes.border.Config
---@field enabled boolean
---@field dir string # named review, where the state is
---@field settle? string[]

---The lines from Start to before End.
---@class hermes.border.Range
---@field start integer
---@field end integer
