//go:build amd64 || arm64

package shim_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helper is a program that runs in a shim.
func helper(args []string) int {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	switch args[0] {
	case "uring":
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params[0])), 0)
		fmt.Println(errno == unix.ENOSYS)
	case "openat2":
		_, err := unix.Openat2(unix.AT_FDCWD, args[1], &unix.OpenHow{})
		fmt.Println(err == unix.ENOSYS)
	case "handle":
		h, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, args[1], 0)
		check(err)
		_ = mount
		dir, err := unix.Open(".", unix.O_RDONLY, 0)
		check(err)
		_, err = unix.OpenByHandleAt(dir, h, unix.O_WRONLY|unix.O_TRUNC)
		fmt.Println(err == unix.EPERM)
	case "limit": // of another process, and of a child
		pid, err := strconv.Atoi(args[1])
		check(err)
		for _, resource := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE, unix.RLIMIT_CPU} {
			fmt.Print(unix.Prlimit(pid, resource, &unix.Rlimit{}, nil) == unix.EPERM, " ")
		}
		child := exec.Command("sleep", "60")
		check(child.Start())
		fmt.Println(unix.Prlimit(child.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 9, Max: 9}, nil))
		check(child.Process.Kill())
	case "hidden": // its memory cannot be read by the supervisor, unless that is root's
		check(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
		return helper(args[1:])
	case "dial": // a socket, which this program serves itself if there is another argument
		network := "unix"
		if strings.Contains(args[1], ":") {
			network = "tcp"
		}
		if len(args) > 2 {
			l, err := net.Listen(network, args[1])
			check(err)
			defer l.Close()
		}
		c, err := net.Dial(network, args[1])
		var errno syscall.Errno
		if errors.As(err, &errno) {
			fmt.Println(errno)
			return 0
		}
		check(err)
		fmt.Println("connected")
		check(c.Close())
	case "get": // asks for an address by the proxy of the environment
		resp, err := http.Get(args[1])
		check(err)
		body, err := io.ReadAll(resp.Body)
		check(err)
		fmt.Print(resp.StatusCode, " ", string(body))
	case "tunnel": // the same for what is no HTTP, and prints what the host says at last
		proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
		check(err)
		c, err := net.Dial("tcp", proxy.Host)
		check(err)
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", args[1])
		in := bufio.NewReader(c)
		resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
		check(err)
		if resp.StatusCode == http.StatusOK {
			fmt.Fprintln(c, "there?")
		}
		check(c.(*net.TCPConn).CloseWrite())
		said, err := io.ReadAll(in)
		check(err)
		fmt.Print(string(said))
	case "serve": // waits at an address, or without one, and has another process connect to a host
		l, err := serving(args[1])
		var errno syscall.Errno
		if errors.As(err, &errno) {
			fmt.Println(errno)
			return 0
		}
		check(err)
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		check(err)
		other := exec.Command("/proc/self/exe", "helper", "dial", net.JoinHostPort(args[2], port))
		other.Stdout, other.Stderr = os.Stdout, os.Stderr
		check(other.Run())
	case "bind":
		network := "unix"
		if strings.Contains(args[1], ":") {
			network = "tcp"
		}
		l, err := net.Listen(network, args[1])
		var errno syscall.Errno
		if errors.As(err, &errno) {
			fmt.Println(errno)
			return 0
		}
		check(err)
		fmt.Println("bound", l.Addr())
		check(l.Close())
		_, err = os.Lstat(args[1])
		check(errors.Join(map[bool]error{true: errors.New("its name is left")}[err == nil]))
	case "detached": // changes what args say in a mount of this folder that has no place
		tree, err := unix.OpenTree(unix.AT_FDCWD, ".", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		check(err)
		switch args[1] {
		case "write":
			fd, err := unix.Openat(tree, args[2], unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o644)
			check(err)
			_, err = unix.Write(fd, []byte("two\n"))
			check(err)
		case "read":
			_, err := unix.Openat(tree, args[2], unix.O_RDONLY, 0)
			check(err)
		case "remove":
			check(unix.Unlinkat(tree, args[2], 0))
		case "mkdir":
			check(unix.Mkdirat(tree, args[2], 0o755))
		case "rename":
			check(unix.Renameat(tree, args[2], tree, args[3]))
		}
	case "write":
		check(os.WriteFile(args[1], []byte(args[2]), 0o644))
	case "again": // writes a file again and again, until there is the other one
		for n := 0; !exists(args[2]); n++ {
			fd, err := unix.Open(args[1], unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o644)
			check(err)
			text := strconv.Itoa(n)
			if _, err := unix.Write(fd, []byte(text)); fd < 3 || err != nil {
				check(fmt.Errorf("time %d: descriptor %d, %w", n, fd, err))
			}
			check(unix.Close(fd))
			if data, err := os.ReadFile(args[1]); string(data) != text {
				check(fmt.Errorf("time %d: the file has %q, %w", n, data, err))
			}
		}
	case "save", "save-late": // a file by another name, which it also writes after that
		f, err := os.OpenFile(args[1], os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o400)
		check(err)
		_, err = f.WriteString("two\n")
		check(err)
		check(os.Chmod(args[1], 0o644))
		check(os.Rename(args[1], args[2]))
		if args[0] == "save-late" {
			_, err = f.WriteString("three\n")
			check(err)
		}
		check(f.Close())
	case "remove":
		check(unix.Unlink(args[1]))
	case "mkdir":
		check(os.Mkdir(args[1], 0o755))
	case "chmod":
		check(os.Chmod(args[1], 0o600))
	case "truncate":
		check(os.Truncate(args[1], 0))
	case "link":
		check(os.Link(args[1], args[2]))
	case "symlink":
		check(os.Symlink(args[1], args[2]))
	case "rename":
		check(os.Rename(args[1], args[2]))
	case "exchange":
		check(unix.Renameat2(unix.AT_FDCWD, args[1], unix.AT_FDCWD, args[2], unix.RENAME_EXCHANGE))
	case "daemon": // outlives its parent, in a session of its own
		p, err := os.StartProcess("/proc/self/exe", []string{"x", "helper", "late"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}, Files: []*os.File{}})
		check(err)
		check(p.Release())
	case "late":
		for ; os.Getppid() != 1 && !exists("go"); time.Sleep(time.Millisecond) {
		}
		check(os.WriteFile("late", []byte("late\n"), 0o644))
	case "unnamed": // a file that gets its name when it is complete
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o644)
		check(err)
		_, err = unix.Write(fd, []byte("whole\n"))
		check(err)
		check(unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, "named", unix.AT_SYMLINK_FOLLOW))
	}
	return 0
}

// serving listens at an address, which others may share, or without one.
func serving(address string) (net.Listener, error) {
	if address != "" {
		network := "tcp"
		if strings.HasPrefix(address, "0.") {
			network = "tcp4" // all addresses are those of IPv6 otherwise
		}
		return (&net.ListenConfig{Control: shareable}).Listen(context.Background(), network, address)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	return net.FileListener(f)
}

func shareable(_, _ string, c syscall.RawConn) (err error) {
	c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	return err
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
