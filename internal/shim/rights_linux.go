//go:build amd64 || arm64

package shim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rights are what decides which files a thread may change.
type rights struct {
	uid, gid int
	groups   []uint32
	caps     uint64
	space    string // the user namespace, in which caps count
}

func rightsOf(task string) (r rights, err error) {
	data, err := os.ReadFile(task + "/status")
	if err != nil {
		return r, err
	}
	found := 0
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		switch {
		case name == "Uid" && len(words) == 4:
			r.uid, err = strconv.Atoi(words[3])
		case name == "Gid" && len(words) == 4:
			r.gid, err = strconv.Atoi(words[3])
		case name == "CapEff" && len(words) == 1:
			r.caps, err = strconv.ParseUint(words[0], 16, 64)
		case name == "Groups":
			for _, w := range words {
				g, err := strconv.ParseUint(w, 10, 32)
				if err != nil {
					return r, err
				}
				r.groups = append(r.groups, uint32(g))
			}
		default:
			continue
		}
		if found++; err != nil {
			return r, err
		}
	}
	if found < 4 {
		return r, fmt.Errorf("%s/status is not complete", task)
	}
	r.space, err = os.Readlink(task + "/ns/user")
	return r, err
}

// assume gives the calling OS thread the rights of another one, as far as they
// differ.
func assume(tid uint32) (restore func() error, err error) {
	mine, err := rightsOf("/proc/thread-self")
	if err != nil {
		return nil, err
	}
	theirs, err := rightsOf(procPath(tid, ""))
	if err != nil {
		return nil, err
	}
	if theirs.space != mine.space {
		theirs.caps = 0 // they count elsewhere
	}
	theirs.caps &= mine.caps
	if err := become(mine, theirs); err != nil {
		become(theirs, mine)
		return nil, err
	}
	return func() error { return become(theirs, mine) }, nil
}

// become changes the rights of the calling OS thread only.
func become(from, to rights) error {
	if from.uid == to.uid && from.gid == to.gid && from.caps == to.caps && slices.Equal(from.groups, to.groups) {
		return nil
	}
	raise := from.caps|to.caps != from.caps
	if raise {
		if err := setCaps(to.caps); err != nil {
			return err
		}
	}
	if !slices.Equal(from.groups, to.groups) {
		var first unsafe.Pointer
		if len(to.groups) > 0 {
			first = unsafe.Pointer(&to.groups[0])
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(to.groups)), uintptr(first), 0); errno != 0 {
			return errno
		}
	}
	// These two report no errors: they return the old value, whatever happens.
	for _, c := range []struct {
		number   uintptr
		from, to int
	}{{unix.SYS_SETFSGID, from.gid, to.gid}, {unix.SYS_SETFSUID, from.uid, to.uid}} {
		if c.from == c.to {
			continue
		}
		unix.RawSyscall(c.number, uintptr(c.to), 0, 0)
		if now, _, _ := unix.RawSyscall(c.number, ^uintptr(0), 0, 0); int(now) != c.to {
			return unix.EPERM
		}
	}
	return setCaps(to.caps)
}

// setCaps sets the effective capabilities of the calling OS thread.
func setCaps(caps uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective, data[1].Effective = uint32(caps)&data[0].Permitted, uint32(caps>>32)&data[1].Permitted
	return unix.Capset(&header, &data[0])
}

// umaskOf returns the bits that a process leaves out of modes.
func umaskOf(tid uint32) uint32 {
	if n, err := strconv.ParseUint(statusField(tid, "Umask:"), 8, 32); err == nil {
		return uint32(n)
	}
	return 0o077
}

// terminalOf returns the terminal that /dev/tty is for a process.
func terminalOf(tid uint32) (string, error) {
	data, err := os.ReadFile(procPath(tid, "stat"))
	if err != nil {
		return "", unix.ENXIO
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	words := strings.Fields(rest)
	if len(words) < 5 {
		return "", unix.ENXIO
	}
	number, err := strconv.ParseUint(words[4], 10, 32)
	if major := unix.Major(number); err == nil && major >= 136 && major <= 143 {
		return "/dev/pts/" + strconv.FormatUint(uint64(major-136)<<8|uint64(unix.Minor(number)), 10), nil
	}
	if err == nil && unix.Major(number) == 4 {
		return "/dev/tty" + strconv.FormatUint(uint64(unix.Minor(number)), 10), nil
	}
	return "", unix.ENXIO
}
