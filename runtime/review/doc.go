// Package review keeps track of what agents change in the files of a project,
// so that the user can look at each change, accept it, reject it or go back,
// and never loses a byte of their own. It knows no editor, no git and no
// protocol: the caller says what changed and writes what the package decides.
//
// # The weave
//
// A file under review is one list of lines, the weave. It holds every line of
// two texts: the base, which is what the user has agreed to, and the current
// text, which is what the buffer or the disk has. A line may say two things:
// which change of an agent added it, and which change deleted it. Each is
// pending, accepted or rejected.
//
//	added by  deleted by  base  current
//	-         -           yes   yes      nothing happened
//	-         a           yes   no       a deleted it
//	a         -           no    yes      a added it
//	a         b           no    no       a added it, then b deleted it
//
// An accepted addition is like none, and an accepted deletion means that the
// line is gone. A rejected deletion is like none, and a rejected addition means
// that the line is gone. So every line is decided on its own: decisions commute,
// accepting hunk by hunk is accepting everything, and rejecting everything gives
// the base.
//
// The user's edits are part of both texts at once. A line that the user types
// says nothing, so it is in the base, never shows as an agent's and survives
// every rejection. A line that the user deletes leaves the weave. If the user or
// an agent writes a line where it was deleted before, it is the same line again.
// A line of an agent that the user rejected or deleted stays in the weave for a
// while, in neither text, so that the decision or the editor's undo can bring it
// back in its place, with its author.
//
// A hunk is a run of pending lines of one session. What the user types into a
// hunk belongs to the user, but rejecting the hunk then needs a confirmation.
//
// # Files
//
// A line includes its terminator, so line ends, a byte order mark and a missing
// last newline are plain bytes. A file with a NUL byte, or one above 8 MiB, is a
// single line. That a file exists, its permission bits and the target of a link
// are decided like lines. A file that is absent is not a file that is empty.
package review
