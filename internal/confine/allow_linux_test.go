package confine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
)

func TestWhatIsAllowedWorks(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	self := func(attempt string, args ...string) []string { return append([]string{"", attempt}, args...) }
	for name, c := range map[string]struct {
		rules confine.Rules
		argv  []string
		want  string
	}{
		"changes in a folder":    {argv: sh("mkdir d && echo x > d/f && mv d/f g && ln g h && ln -s g s && rm h && truncate -s 0 g && rm -r d && echo done"), want: "done"},
		"the temporary folder":   {argv: sh(`f=$(mktemp) && echo done > "$f" && cat "$f"`), want: "done"},
		"reading elsewhere":      {argv: sh("cat {HOME}/notes {OUTSIDE}/file"), want: "notestheirs"},
		"listing elsewhere":      {argv: sh("ls -a {HOME}"), want: ".ssh"},
		"programs":               {argv: sh("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l"), want: "1"},
		"node":                   {argv: []string{"node", "-e", "fs.writeFileSync('x', 'done'); console.log(String(child_process.execSync('cat x')))"}, want: "done"},
		"python":                 {argv: []string{"python3", "-c", "import subprocess; print(subprocess.run(['cat', 'file'], capture_output=True).stdout)"}, want: "mine"},
		"pairs of sockets":       {argv: []string{"python3", "-c", "import socket\nfor kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC:\n  a, b = socket.socketpair(socket.AF_UNIX, kind); a.send(b'x'); print(b.recv(1))\nprint('done')"}, want: "done"},
		"processes of python":    {argv: []string{"python3", "-c", "import multiprocessing\nc = multiprocessing.get_context('fork')\na, b = c.Pipe()\np = c.Process(target=lambda: b.send('done')); p.start(); print(a.recv()); p.join()"}, want: "done"},
		"messages of node":       {argv: []string{"node", "-e", "child_process.spawn(process.execPath, ['-e', 'process.send(`done`)'], {stdio: ['inherit', 'inherit', 'inherit', 'ipc']}).on('message', m => console.log(m))"}, want: "done"},
		"limits of its own":      {argv: sh("ulimit -n 100 && nice -n 1 true && taskset -p $$ > /dev/null && ulimit -n && prlimit --pid $$ > /dev/null"), want: "100"},
		"devices":                {argv: sh("echo x > /dev/null && head -c 1 /dev/urandom | wc -c"), want: "1"},
		"a pipe to itself":       {argv: sh("mkfifo p && (echo done > p & cat p)"), want: "done"},
		"signals to children":    {argv: sh("sleep 60 & kill $! && wait $! ; echo $?"), want: "143"},
		"another folder":         {rules: confine.Rules{Write: []string{"{OUTSIDE}"}}, argv: sh("echo done > {OUTSIDE}/new && cat {OUTSIDE}/new"), want: "done"},
		"a file alone":           {rules: confine.Rules{Write: []string{"{OUTSIDE}/file"}}, argv: sh("echo done > {OUTSIDE}/file && cat {OUTSIDE}/file; echo x > {OUTSIDE}/new || echo only"), want: "only"},
		"a secret that is named": {rules: confine.Rules{Write: []string{"{HOME}/.ssh"}}, argv: sh("cat {HOME}/.ssh/id"), want: "SECRET"},
		"nothing hidden":         {rules: confine.Rules{Hide: []string{}}, argv: sh("cat {HOME}/.ssh/id"), want: "SECRET"},
		"only what is read":      {rules: confine.Rules{Read: []string{"{OUTSIDE}"}}, argv: sh("cat {OUTSIDE}/file; cat {HOME}/notes || echo only"), want: "only"},
		"a port":                 {rules: confine.Rules{Net: confine.Net{Ports: []uint16{port}}}, argv: self("tcp", "{TCP}")},
		"UDP, with port 53":      {rules: confine.Rules{Net: confine.Net{Ports: []uint16{53}}}, argv: self("udp", "{UDP}")},
		"all networks":           {rules: confine.Rules{Net: confine.Net{All: true}}, argv: self("tcp", "{TCP}")},
		"listening":              {rules: confine.Rules{Net: confine.Net{All: true}}, argv: self("listen")},
		"sockets":                {rules: confine.Rules{Sockets: true}, argv: self("unix", "{UNIX}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := c.rules
			for _, list := range []*[]string{&r.Write, &r.Read} {
				for i, path := range *list {
					(*list)[i] = p.fill(path)
				}
			}
			for i, n := range r.Net.Ports {
				if n == port {
					r.Net.Ports[i] = uint16(p.tcp)
				}
			}
			r.Write = append(r.Write, p.project)
			out, err := p.run(t, &r, c.argv...)
			if err != nil || !strings.Contains(out, c.want) {
				t.Errorf("%v: %s, want %s", err, out, c.want)
			}
		})
	}
}

// docs/confine.md says that Python's multiprocessing, Chromium and others need this.
func TestSemaphoresWorkWhereSharedMemoryMayBeWritten(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	for name, argv := range map[string][]string{
		"as in C": {"", "semaphore", fmt.Sprintf("hermes-confine-%d", os.Getpid())},
		"Python":  {"python3", "-c", "import multiprocessing; l = multiprocessing.Lock(); l.acquire(); l.release()"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if out, err := p.run(t, nil, argv...); err != nil {
				t.Skipf("not here: %s, %v", out, err)
			}
			if out, err := p.run(t, &confine.Rules{Write: []string{p.project, "/dev/shm"}}, argv...); err != nil {
				t.Errorf("where /dev/shm may be written: %s, %v", out, err)
			}
			out, err := p.run(t, &confine.Rules{Write: []string{p.project}}, argv...)
			if err == nil || !strings.Contains(strings.ToLower(out), "permission denied") {
				t.Errorf("otherwise: %q, %v", out, err)
			}
		})
	}
}

// port stands for the one that is listened to.
const port = 1

func TestOtherPortsAndSocketsStayClosed(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	for _, c := range []struct {
		rules confine.Rules
		argv  []string
	}{
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "tcp", "{TCP}"}},
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "udp", "{UDP}"}},
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "fastopen", "{TCP}"}},
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "socket", "2", "1", "262"}},
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "socket", "40", "1", "0"}},
		{confine.Rules{Net: confine.Net{All: true}}, []string{"", "unix", "{UNIX}"}},
		{confine.Rules{Net: confine.Net{All: true}}, []string{"", "datagrams", "2", "{PACKETS}"}},
		{confine.Rules{Net: confine.Net{Ports: []uint16{443}}}, []string{"", "datagrams", "2050", "{PACKETS}"}},
		{confine.Rules{Sockets: true}, []string{"", "unix", "{ABSTRACT}"}},
		{confine.Rules{Sockets: true}, []string{"", "tcp", "{TCP}"}},
	} {
		p := newPlace(t)
		if out, err := p.run(t, &c.rules, c.argv...); err == nil {
			t.Errorf("%+v: %q worked: %s", c.rules, c.argv, out)
		}
	}
}

// The program is the one that was named, with its words, its status and its end.
func TestTheProgramIsUnchanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := confine.Rules{BestEffort: true}
	if out, err := p.run(t, &r, "sh", "-c", `printf '[%s]' "$@"; pwd`, "sh", "a b", "", "'$x'", "\xff"); err != nil || out != "[a b][]['$x'][\xff]"+p.project+"\n" {
		t.Errorf("%v %q", err, out)
	}
	var exit *exec.ExitError
	if _, err := p.run(t, &r, "sh", "-c", "exit 7"); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Error(err)
	}
	if _, err := p.run(t, &r, "sh", "-c", "kill -TERM $$"); !errors.As(err, &exit) || exit.String() != "signal: terminated" {
		t.Error(err)
	}
}

func TestExecNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	missing := t.TempDir() + "/none"
	if err := confine.Exec(confine.Rules{Write: []string{missing}}, "/bin/true", []string{"true"}, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
}

func TestNetIsTrueFalseOrPorts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]confine.Net{`true`: {All: true}, `false`: {}, `[443,53]`: {Ports: []uint16{443, 53}}} {
		var n confine.Net
		if err := json.Unmarshal([]byte(text), &n); err != nil || n.All != want.All || len(n.Ports) != len(want.Ports) {
			t.Errorf("%s: %+v, %v", text, n, err)
		}
		if b, err := json.Marshal(n); err != nil || string(b) != text {
			t.Errorf("%s became %s, %v", text, b, err)
		}
	}
	for _, text := range []string{`"all"`, `[70000]`, `{}`} {
		if err := json.Unmarshal([]byte(text), new(confine.Net)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func TestSecretsAreBelowTheHomeFolder(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	n := 0
	for _, s := range confine.Secrets() {
		if strings.HasPrefix(s, home+"/") {
			n++
		} else if !strings.HasPrefix(s, "/etc/") {
			t.Error(s)
		}
	}
	if n < 30 {
		t.Error(n)
	}
}
