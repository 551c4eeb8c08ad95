package confine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// rulesVariable makes this program the launcher; attemptVariable makes it try one
// way out.
const (
	rulesVariable   = "HERMES_TEST_CONFINE"
	attemptVariable = "HERMES_TEST_ATTEMPT"
)

// launcherWord makes this program the launcher of a Box.
const launcherWord = "confine"

func TestMain(m *testing.M) {
	if len(os.Args) > 5 && os.Args[1] == launcherWord && os.Args[2] == "--rules" && os.Args[4] == "--" {
		var r confine.Rules
		err := json.Unmarshal([]byte(os.Args[3]), &r)
		if err == nil {
			err = confine.Exec(r, os.Args[5], os.Args[5:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if text := os.Getenv(rulesVariable); text != "" {
		os.Unsetenv(rulesVariable)
		var r confine.Rules
		err := json.Unmarshal([]byte(text), &r)
		if err == nil {
			err = confine.Exec(r, os.Args[1], os.Args[1:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if name := os.Getenv(attemptVariable); name != "" {
		if err := attempts[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// place is what a program tries to get out of, and what is around it.
type place struct {
	dir, home, project, outside string
	tcp, udp                    int
	unix, abstract, packets     string
	shm, key                    int // memory that is shared by a number, and its key
}

// keys numbers the keys of shared memory, which are for the whole machine.
var keys atomic.Int32

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{dir: dir, home: dir + "/home", project: dir + "/home/project", outside: dir + "/outside"}
	for _, d := range []string{p.project + "/tmp", p.home + "/.ssh", p.outside + "/sub"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		p.home + "/.ssh/id": "SECRET", p.home + "/.netrc": "SECRET", p.home + "/notes": "notes", p.outside + "/file": "theirs",
		p.project + "/file": "mine",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		p.project + "/out": p.outside, p.project + "/outfile": p.outside + "/file", p.project + "/key": p.home + "/.ssh/id", p.home + "/keys": p.home + "/.ssh",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.unix, p.abstract = filepath.Join(sockdir.New(t), "s"), "@hermes-confine-"+strconv.Itoa(os.Getpid())+filepath.Base(dir)+t.Name()
	onDisk, err := net.Listen("unix", p.unix)
	if err != nil {
		t.Fatal(err)
	}
	abstract, err := net.Listen("unix", p.abstract)
	if err != nil {
		t.Fatal(err)
	}
	p.packets = filepath.Join(sockdir.New(t), "p")
	byPath, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: p.packets})
	if err != nil {
		t.Fatal(err)
	}
	p.key = int(keys.Add(1))<<20 | os.Getpid()&0xfffff
	if p.shm, err = unix.SysvShmGet(p.key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.SysvShmCtl(p.shm, unix.IPC_RMID, nil)
		byPath.Close()
		listener.Close()
		packets.Close()
		onDisk.Close()
		abstract.Close()
	})
	p.tcp, p.udp = listener.Addr().(*net.TCPAddr).Port, packets.LocalAddr().(*net.UDPAddr).Port
	return p
}

// fill replaces what stands for the parts of the place.
func (p *place) fill(s string) string {
	return strings.NewReplacer("{HOME}", p.home, "{OUTSIDE}", p.outside, "{TCP}", strconv.Itoa(p.tcp), "{UDP}", strconv.Itoa(p.udp),
		"{UNIX}", p.unix, "{ABSTRACT}", p.abstract, "{PACKETS}", p.packets, "{SHM}", strconv.Itoa(p.shm), "{KEY}", strconv.Itoa(p.key), "{PARENT}", strconv.Itoa(os.Getpid())).Replace(s)
}

// run runs a program in the project, under rules if there are any.
func (p *place) run(t *testing.T, r *confine.Rules, argv ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+p.home, "TMPDIR="+p.project+"/tmp")
	if argv[0] == "" {
		env, argv = append(env, attemptVariable+"="+argv[1]), append([]string{self}, argv[2:]...)
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Skip(err)
	}
	words := []string{path}
	for _, w := range argv[1:] {
		words = append(words, p.fill(w))
	}
	if r != nil {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		words, env = append([]string{self}, words...), append(env, rulesVariable+"="+string(text))
	}
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = p.project, env
	// A file that this program has open must not reach the confined one.
	open, err := os.OpenFile(p.outside+"/file", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	cmd.ExtraFiles = []*os.File{open}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 99 {
		t.Fatalf("not confined: %s", out)
	}
	return string(out), err
}

// state is everything outside of the project that a program could change.
func (p *place) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{p.outside, p.home} {
		filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if path == p.project {
				return filepath.SkipDir
			}
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", path, text)
			return err
		})
	}
	return b.String()
}

// A program that may connect to some ports waits for nobody.
func TestAProgramWithPortsListensNowhere(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{{"", "listen"}, {"", "listen, without an address"}} {
		p := newPlace(t)
		if out, err := p.run(t, nil, argv...); err != nil {
			t.Fatalf("%q without rules: %v %s", argv, err, out)
		}
		if out, err := p.run(t, &confine.Rules{Write: []string{p.project}, Net: confine.Net{Ports: []uint16{443, 53}}}, argv...); err == nil {
			t.Errorf("%q worked: %s", argv, out)
		}
	}
}

// attempts are ways out that take system calls of their own.
var attempts = map[string]func(args []string) error{
	"read":  func(a []string) error { _, err := os.ReadFile(a[0]); return err },
	"write": func(a []string) error { return os.WriteFile(a[0], []byte("broken out"), 0o644) },
	"tcp": func(a []string) error {
		_, err := net.DialTimeout("tcp", "127.0.0.1:"+a[0], time.Second)
		return err
	},
	"listen": func([]string) error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
	"listen, without an address": func([]string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Listen(fd, 1)
	},
	"udp": func(a []string) error {
		c, err := net.Dial("udp", "127.0.0.1:"+a[0])
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		return err
	},
	"unix": func(a []string) error { _, err := net.Dial("unix", a[0]); return err },
	"socket": func(a []string) error {
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(a[i])
		}
		_, err := unix.Socket(n[0], n[1], n[2])
		return err
	},
	"fastopen": func(a []string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		port, _ := strconv.Atoi(a[0])
		return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	},
	"inherited": func([]string) error { _, err := os.NewFile(3, "inherited").Write([]byte("broken out")); return err },
	"descriptor": func(a []string) error { // of the launcher, or of the test
		for fd := 3; fd < 30; fd++ {
			if _, err := os.OpenFile(fmt.Sprintf("/proc/%s/fd/%d", a[0], fd), os.O_WRONLY, 0); err == nil {
				return nil
			}
		}
		return os.ErrPermission
	},
	"ptrace": func(a []string) error { pid, _ := strconv.Atoi(a[0]); return unix.PtraceSeize(pid) },
	"memory": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		var b [1]byte
		local := []unix.Iovec{{Base: &b[0], Len: 1}}
		_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&os.Args)), Len: 1}}, 0)
		return err
	},
	"signal": func(a []string) error { pid, _ := strconv.Atoi(a[0]); return unix.Kill(pid, 0) },
	"pidfd": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			_, err = unix.PidfdGetfd(fd, 1, 0)
		}
		return err
	},
	"handle": func(a []string) error {
		h, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, a[0], 0)
		if err != nil {
			return err
		}
		_ = mount
		dir, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
		return err
	},
	"device": func([]string) error {
		if err := unix.Mknod("disk", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1))); err != nil {
			return err
		}
		return nil
	},
	"mount": func(a []string) error { return unix.Mount(a[0], "tmp", "", unix.MS_BIND, "") },
	"chroot": func(a []string) error { // the rules go along
		if err := unix.Chroot(a[0]); err != nil {
			return err
		}
		return os.WriteFile("/new", nil, 0o644)
	},
	"uring": func([]string) error {
		var params [256]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params[0])), 0)
		if errno != 0 {
			return errno
		}
		return nil
	},
	"typing": func([]string) error {
		tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return nil // that has to work
		}
		c := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, tty.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		if errno == unix.EPERM || errno == unix.EACCES {
			return errno
		}
		return nil
	},
	"datagrams": func(a []string) error { // to an address, from a pair
		kind, _ := strconv.Atoi(a[0])
		pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: a[1]})
	},
	"limit": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		var now unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &now); err != nil {
			return nil // reading has to work
		}
		return unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, &now, nil)
	},
	"limit, high": func(a []string) error { // the lower half of the pointer is zero
		pid, _ := strconv.Atoi(a[0])
		var now unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &now); err != nil {
			return nil
		}
		at, _, errno := unix.Syscall6(unix.SYS_MMAP, 1<<33, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uintptr(0), 0)
		if errno != 0 {
			return errno
		}
		if _, _, errno = unix.Syscall6(unix.SYS_PRLIMIT64, uintptr(pid), unix.RLIMIT_MSGQUEUE, 0, at, 0, 0); errno != 0 {
			return errno
		}
		_, _, errno = unix.Syscall6(unix.SYS_PRLIMIT64, uintptr(pid), unix.RLIMIT_MSGQUEUE, at, 0, 0, 0)
		return failed(errno)
	},
	"affinity": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &set); err != nil {
			return nil
		}
		return unix.SchedSetaffinity(pid, &set)
	},
	"scheduler": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		attr, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			return nil
		}
		return unix.SchedSetAttr(pid, attr, 0)
	},
	"priority": func(a []string) error {
		which, _ := strconv.Atoi(a[0])
		who, _ := strconv.Atoi(a[1])
		now, err := unix.Getpriority(which, who)
		if err != nil {
			return nil
		}
		return unix.Setpriority(which, who, 20-now)
	},
	"disk priority": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 2<<13|4)
		return failed(errno)
	},
	"semaphore": func(a []string) (err error) { // with a name, as sem_open makes it
		draft, name := "/dev/shm/"+a[0], "/dev/shm/sem."+a[0]
		defer os.Remove(name)
		defer os.Remove(draft)
		share := func(path string, flags int) (memory []byte, err error) {
			f, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			if flags != 0 {
				if _, err := f.Write(make([]byte, 32)); err != nil {
					return nil, err
				}
			}
			return unix.Mmap(int(f.Fd()), 0, 32, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		}
		mine, err := share(draft, os.O_CREATE|os.O_EXCL)
		if err != nil {
			return err
		}
		if err := os.Link(draft, name); err != nil {
			return err
		}
		if err := os.Remove(draft); err != nil {
			return err
		}
		theirs, err := share(name, 0)
		if err != nil {
			return err
		}
		if mine[0]++; theirs[0] != 1 {
			return errors.New("the memory is not shared")
		}
		return os.Remove(name)
	},
	"attach": func(a []string) error { // memory whose number is known
		id, _ := strconv.Atoi(a[0])
		memory, err := unix.SysvShmAttach(id, 0, 0)
		if err == nil {
			memory[0] = 1
		}
		return err
	},
	"shared": func(a []string) error { // by a key
		key, _ := strconv.Atoi(a[1])
		switch a[0] {
		case "memory":
			_, err := unix.SysvShmGet(key, 4096, 0)
			return err
		case "queue":
			id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), unix.IPC_CREAT|0o600, 0)
			unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
			return failed(errno)
		case "semaphore":
			id, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 1, unix.IPC_CREAT|0o600)
			unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
			return failed(errno)
		}
		name, _ := unix.BytePtrFromString("hermes-confine-" + a[1])
		_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
		unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
		return failed(errno)
	},
	"namespace": func(a []string) error {
		cmd := exec.Command("/proc/self/exe", a...)
		cmd.Env = append(os.Environ(), attemptVariable+"=write")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
		return cmd.Run()
	},
	"again": func(a []string) error { // a launcher with wider rules
		cmd := exec.Command("/proc/self/exe", append([]string{"/proc/self/exe"}, a...)...)
		cmd.Env = append(os.Environ(), attemptVariable+"=write", rulesVariable+`={"write":["/"],"net":true,"sockets":true}`)
		return cmd.Run()
	},
	"daemon": func(a []string) error {
		cmd := exec.Command("/proc/self/exe", a...)
		cmd.Env = append(os.Environ(), attemptVariable+"=write")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Run()
	},
}

// failed is the error of a call, nil if it worked.
func failed(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

func TestNothingGetsOut(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		if os.Getenv("CI") != "" {
			t.Fatal(lacks)
		}
		t.Skip(lacks)
	}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	here := func(script string) []string { return []string{"!sh", "-c", script} }
	python := func(script string) []string { return []string{"python3", "-c", script} }
	node := func(script string) []string { return []string{"node", "-e", script} }
	self := func(attempt string, args ...string) []string { return append([]string{"", attempt}, args...) }
	var possible atomic.Int32
	for i, argv := range [][]string{
		// Files.
		sh("echo x > {OUTSIDE}/new"), sh("echo x > {OUTSIDE}/file"), sh("echo x >> {OUTSIDE}/file"), sh(": > {OUTSIDE}/file"),
		sh("rm {OUTSIDE}/file"), sh("rmdir {OUTSIDE}/sub"), sh("mkdir {OUTSIDE}/dir"), sh("mv {OUTSIDE}/file ."), sh("mv file {OUTSIDE}/"),
		sh("mv {OUTSIDE}/file {OUTSIDE}/other"), sh("ln file {OUTSIDE}/hard"), sh("ln {OUTSIDE}/file hard"), sh("ln -s x {OUTSIDE}/soft"),
		sh("mkfifo {OUTSIDE}/fifo"), sh("truncate -s 0 {OUTSIDE}/file"), sh("cp file {OUTSIDE}/copy"), sh("echo x > {HOME}/notes"), sh("rm {HOME}/notes"),
		sh("echo x > out/new"), sh("echo x > outfile"), sh("echo x > ../../outside/new"), sh("cd {OUTSIDE} && echo x > new"),
		sh("echo x > /proc/self/root/{OUTSIDE}/new"), sh("echo x > /proc/self/cwd/../notes"), sh("echo x > /proc/{PARENT}/root/{OUTSIDE}/new"),
		sh("echo x > /proc/{PARENT}/cwd/new && rm /proc/{PARENT}/cwd/new"), sh("ln -s {OUTSIDE} there && echo x > there/new"), sh("(setsid sh -c 'echo x > {OUTSIDE}/new')"),
		here("echo x > /etc/hermes-confine-test"), here("echo x > /dev/shm/hermes-confine-test"), here("echo x > /usr/hermes-confine-test"),
		python("open('{OUTSIDE}/new', 'w')"), python("import os; os.rename('{OUTSIDE}/file', 'stolen')"), python("import os; os.unlink('{OUTSIDE}/file')"),
		node("fs.writeFileSync('{OUTSIDE}/new', '')"), node("fs.renameSync('{OUTSIDE}/file', 'stolen')"),
		self("write", "{OUTSIDE}/new"), self("write", "out/new"), self("inherited"), self("descriptor", "{PARENT}"),
		self("daemon", "{OUTSIDE}/new"), self("again", "{OUTSIDE}/new"), self("namespace", "{OUTSIDE}/new"), self("chroot", "{OUTSIDE}"),
		{"!", "mount", "{OUTSIDE}"}, self("device"),
		// Secrets.
		sh("cat {HOME}/.ssh/id"), sh("cat {HOME}/.netrc"), sh("cat key"), sh("cat {HOME}/keys/id"), sh("cp {HOME}/.ssh/id ."), sh("ln {HOME}/.ssh/id id && cat id"),
		sh("mv {HOME}/.ssh ssh"), sh("cat /proc/{PARENT}/environ"), sh("cat /proc/{PARENT}/root/{HOME}/.ssh/id"), sh("cat /etc/shadow"),
		python("open('{HOME}/.ssh/id').read()"), node("fs.readFileSync('{HOME}/.ssh/id')"), self("read", "{HOME}/.ssh/id"), self("read", "{HOME}/.netrc"),
		self("handle", "{HOME}/.netrc"),
		// Other processes.
		self("ptrace", "{PARENT}"), self("memory", "{PARENT}"), self("signal", "{PARENT}"), self("pidfd", "{PARENT}"), sh("kill -0 {PARENT}"), self("typing"), self("uring"),
		self("limit", "{PARENT}"), self("limit, high", "{PARENT}"), self("affinity", "{PARENT}"), self("scheduler", "{PARENT}"), self("priority", "0", "{PARENT}"), self("priority", "2", "0"), self("disk priority", "{PARENT}"),
		self("attach", "{SHM}"), self("shared", "memory", "{KEY}"), self("shared", "queue", "{KEY}"), self("shared", "semaphore", "{KEY}"), self("shared", "name", "{KEY}"),
		// Networks and sockets.
		self("tcp", "{TCP}"), self("listen"), self("listen, without an address"), self("udp", "{UDP}"), self("unix", "{UNIX}"), self("unix", "{ABSTRACT}"), self("fastopen", "{TCP}"),
		self("datagrams", "2", "{PACKETS}"), self("datagrams", "526338", "{PACKETS}"), self("datagrams", "3", "{PACKETS}"),
		self("socket", "2", "1", "262"), self("socket", "2", "3", "1"), self("socket", "17", "3", "0"), self("socket", "40", "1", "0"), self("socket", "16", "3", "12"),
		python("import socket; socket.create_connection(('127.0.0.1', {TCP}))"), python("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {UDP}))"),
		python("import socket; socket.socket(socket.AF_UNIX).connect('{UNIX}')"),
		node("net.connect({TCP}, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"),
		node("net.connect('{UNIX}').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"),
	} {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			t.Parallel()
			t.Log(argv)
			if strings.HasPrefix(argv[0], "!") { // it would change this machine
				argv[0] = argv[0][1:]
			} else if out, err := newPlace(t).run(t, nil, argv...); err != nil {
				t.Logf("it does not even work without rules: %v %s", err, out)
			} else {
				possible.Add(1)
			}
			p := newPlace(t)
			before := p.state(t)
			out, err := p.run(t, &confine.Rules{Write: []string{p.project}}, argv...)
			if err == nil {
				t.Errorf("it worked: %s", out)
			}
			if strings.Contains(out, "SECRET") {
				t.Errorf("it told a secret: %s", out)
			}
			if after := p.state(t); after != before {
				t.Errorf("it changed something outside:\n%s\nwas\n%s", after, before)
			}
		})
	}
	t.Cleanup(func() {
		if n := possible.Load(); n < 60 && os.Geteuid() == 0 {
			t.Errorf("only %d ways out work without rules", n)
		}
	})
}
