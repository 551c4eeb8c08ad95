package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// devices may be read and written, and their settings changed. All others may be
// disks.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// system is what programs need to run at all.
var system = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix/store", "/gnu/store", "/proc", "/sys", "/run/systemd/resolve", "/snap", "/var/lib/snapd"}

// change is everything that may happen below a folder, except that devices are
// made: whoever is root could reach a disk through them.
const change landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir |
	ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
	ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSMakeFifo | ll.AccessFSMakeSock | ll.AccessFSRefer

// abi is the version of Landlock that knows everything that rules need: moves
// between folders, truncation, TCP, devices, signals and abstract sockets.
const abi = 6

func missing(r Rules) []string {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		version = 0
	}
	var lacks []string
	for _, part := range []struct {
		since  int
		needed bool
		lack   string
	}{
		{1, true, "Landlock is off or too old (Linux 5.13), so files are not protected"},
		{3, true, "Landlock cannot protect files from being truncated (Linux 6.2)"},
		{4, !r.Net.All, "Landlock cannot limit TCP (Linux 6.7)"},
		{5, true, "Landlock cannot limit what is done to devices (Linux 6.10)"},
		{abi, true, "Landlock cannot limit signals and abstract sockets (Linux 6.12)"},
	} {
		if part.needed && version < part.since {
			lacks = append(lacks, part.lack)
		}
	}
	if arch == 0 {
		lacks = append(lacks, "sockets and dangerous system calls are not limited on "+runtime.GOARCH)
	} else if _, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil {
		lacks = append(lacks, "seccomp is off, so sockets and dangerous system calls are not limited")
	}
	return lacks
}

func bind(r Rules) error {
	// Files that were opened before are not confined.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("confine: close_range: %w", err)
	}
	var list []try
	if !r.BestEffort {
		var end func()
		list, end = tries(r)
		defer end()
	}
	config := landlock.V6
	if r.Net.All {
		config.HandledAccessNet = 0
	}
	if r.BestEffort {
		config = config.BestEffort()
	}
	if err := config.Restrict(grants(r)...); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("confine: capabilities: %w", err)
	}
	if arch != 0 {
		if err := filter(r); err != nil && !r.BestEffort {
			return fmt.Errorf("confine: seccomp: %w", err)
		}
	}
	return hold(list)
}

// grants are the rules for Landlock, which denies everything else.
func grants(r Rules) []landlock.Rule {
	read := append(append([]string{}, r.Read...), system...)
	if r.Read == nil {
		hidden := append([]string{"/dev"}, r.Hide...)
		read = visible("/", hidden)
	}
	var list []landlock.Rule
	add := func(paths []string, folder, file func(...string) landlock.FSRule) {
		for _, p := range paths {
			rule := file
			if s, err := os.Stat(p); err != nil {
				continue
			} else if s.IsDir() {
				rule = folder
			}
			list = append(list, rule(p).IgnoreIfMissing())
		}
	}
	add(read, landlock.RODirs, landlock.ROFiles)
	if r.Supervised {
		add(r.Write, landlock.RODirs, landlock.ROFiles)
	} else {
		add(r.Write, func(p ...string) landlock.FSRule { return landlock.PathAccess(change, p...) }, landlock.RWFiles)
	}
	device := func(rule func(...string) landlock.FSRule) func(...string) landlock.FSRule {
		return func(p ...string) landlock.FSRule { return rule(p...).WithIoctlDev() }
	}
	add(devices, device(landlock.RWDirs), device(landlock.RWFiles))
	// Names of files are no secret, and programs walk through folders.
	list = append(list, landlock.PathAccess(ll.AccessFSReadDir, string(filepath.Separator)))
	if !r.Net.All {
		for _, port := range r.Net.Ports {
			list = append(list, landlock.ConnectTCP(port))
		}
	}
	return list
}
