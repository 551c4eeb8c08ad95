package shim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// TestEveryCallIsKnownInBothModes makes each call that changes files by itself: with
// its number of 64 and of 32 bits, and relative to a folder that is not the first
// argument of another call by accident. With a gate, the supervisor makes it.
func TestEveryCallIsKnownInBothModes(t *testing.T) {
	t.Parallel()
	const openCreate, regular, noCall = "0x41", "0100644", "function not implemented"
	calls := []struct {
		numbers   [2]int // of 64 and of 32 bits
		arguments string
		want      string // the event, or why it fails
	}{
		{[2]int{257, 295}, "@ =openat " + openCreate + " 0644", `write openat absent ""`},
		{[2]int{2, 5}, "=open " + openCreate + " 0644", `write open absent ""`},
		{[2]int{85, 8}, "=creat 0644", `write creat absent ""`},
		{[2]int{437, 437}, "@ =openat2 HOW:" + openCreate + ":0644:0 24", `write openat2 absent ""`},
		{[2]int{257, 295}, "@ =whole 0x201 0", `write whole "text" ""`},     // truncates
		{[2]int{257, 295}, "@ =emptied 0x200 0", `write emptied "text" ""`}, // to read it
		{[2]int{257, 295}, "@ =made 0x40 0644", `write made absent ""`},
		{[2]int{257, 295}, "@ =made 0x40 0644", ""},
		{[2]int{437, 437}, "@ =/inroot HOW:" + openCreate + ":0644:0x10 24", `write inroot absent ""`},
		{[2]int{437, 437}, "@ =../../up/../inroot2 HOW:" + openCreate + ":0644:0x10 24", `write inroot2 absent ""`},
		{[2]int{76, 92}, "=cut 2", `write cut "text" "te"`},
		{[2]int{-1, 193}, "=cut64 2 0", `write cut64 "text" "te"`},
		{[2]int{87, 10}, "=unlink", `remove unlink "text"`},
		{[2]int{263, 301}, "@ =unlinkat 0", `remove unlinkat "text"`},
		{[2]int{83, 39}, "=mkdir 0755", `mkdir mkdir`},
		{[2]int{258, 296}, "@ =mkdirat 0755", `mkdir mkdirat`},
		{[2]int{84, 40}, "=mkdir", `rmdir mkdir`},
		{[2]int{263, 301}, "@ =mkdirat 0x200", `rmdir mkdirat`},
		{[2]int{82, 38}, "=rename =renamed", `rename rename renamed`},
		{[2]int{264, 302}, "@ =renameat @ =renamedat", `rename renameat renamedat`},
		{[2]int{316, 353}, "@ =renameat2 @ =renamedat2 1", `rename renameat2 renamedat2`},
		{[2]int{86, 9}, "=whole =link", `link whole link`},
		{[2]int{265, 303}, "@ =whole @ =linkat 0", `link whole linkat`},
		{[2]int{88, 83}, "=to =symlink", `symlink symlink absent ->to`},
		{[2]int{266, 304}, "=to @ =symlinkat", `symlink symlinkat absent ->to`},
		{[2]int{133, 14}, "=mknod " + regular + " 0", `write mknod absent ""`},
		{[2]int{259, 297}, "@ =mknodat " + regular + " 0", `write mknodat absent ""`},
		{[2]int{90, 15}, "=chmod 0640", `chmod chmod "text" 644 "text" 640`},
		{[2]int{91, 94}, "@fchmod 0640", `chmod fchmod "text" 644 "text" 640`},
		{[2]int{268, 306}, "@ =fchmodat 0640", `chmod fchmodat "text" 644 "text" 640`},
		{[2]int{452, 452}, "@ =fchmodat2 0640 0", `chmod fchmodat2 "text" 644 "text" 640`},
		{[2]int{425, 425}, "8 0", noCall},                      // io_uring_setup
		{[2]int{304, 342}, "@ 0 1", "operation not permitted"}, // open_by_handle_at
	}
	// Mounts, and namespaces of users and mounts. Without a gate they are no changes of files.
	gatedCalls := []struct {
		numbers   [2]int
		arguments string
		want      string
	}{
		{[2]int{165, 21}, "=up =up 0 0x1000 0", "operation not permitted"}, {[2]int{166, 52}, "=up 0", "operation not permitted"}, {[2]int{-1, 22}, "=up", "operation not permitted"},
		{[2]int{155, 217}, "=up =up", "operation not permitted"}, {[2]int{429, 429}, "@ =up @ =up 0", "operation not permitted"}, {[2]int{428, 428}, "@ =up 1", "operation not permitted"},
		{[2]int{430, 430}, "=tmpfs 0", "operation not permitted"}, {[2]int{431, 431}, "8 0 0 0 0", "operation not permitted"}, {[2]int{432, 432}, "8 0 0", "operation not permitted"},
		{[2]int{433, 433}, "@ =up 0", "operation not permitted"}, {[2]int{442, 442}, "@ =up 0 0 0", "operation not permitted"}, {[2]int{308, 346}, "8 0", "operation not permitted"},
		{[2]int{272, 310}, "0x10000000", "operation not permitted"}, {[2]int{272, 310}, "0x20000", "operation not permitted"}, {[2]int{272, 310}, "0", ""},
		{[2]int{56, 120}, "0x10000011 0 0 0 0", "operation not permitted"}, {[2]int{56, 120}, "0x20011 0 0 0 0", "operation not permitted"}, {[2]int{435, 435}, "0 0", noCall},
	}
	program, err := static()
	if err != nil {
		t.Fatal(err)
	}
	_, _, errno := unix.Syscall(unix.SYS_FCHMODAT2, 0, 0, 0)
	older := errno == unix.ENOSYS // than Linux 6.6
	for mode, bits := range []string{"64", "32"} {
		for _, gated := range []bool{false, true} {
			for _, user := range users() {
				t.Run(fmt.Sprintf("%s bits, gate %v, user %d", bits, gated, user), func(t *testing.T) {
					t.Parallel()
					if bits == "32" && !calls32() {
						t.Skip("skipped: this machine makes no calls of 32 bits")
					}
					s := newShimmed(t)
					s.user = user
					s.write("up/x", "")
					for _, name := range []string{"emptied", "whole", "cut", "cut64", "unlink", "unlinkat", "rename", "renameat", "renameat2", "chmod", "fchmod", "fchmodat", "fchmodat2"} {
						s.write(name, "text")
					}
					if gated {
						s.config.Gate = &shim.Gate{Allow: []string{s.root}}
					}
					command := []string{program, "calls", bits}
					var want []string
					printed := ""
					calls := calls
					if gated {
						calls = slices.Concat(calls, gatedCalls)
					}
					for _, c := range calls {
						text := fmt.Sprint(c.numbers[mode], " ", c.arguments)
						switch {
						case c.numbers[mode] < 0, c.numbers[mode] == unix.SYS_FCHMODAT2 && older:
							continue
						case gated && strings.Contains(text, "HOW"):
							printed += text + ": " + noCall + "\n"
						case strings.Contains(c.want, " not "):
							printed += text + ": " + c.want + "\n"
						case c.want != "":
							want = append(want, c.want)
						}
						command = append(command, text)
					}
					out, status := s.run(command...)
					if out != printed || status != 0 {
						t.Errorf("exit status %d\n%s", status, out)
					}
					if got := s.lines(journal.Post); !slices.Equal(got, want) {
						t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
					}
				})
			}
		}
	}
}
