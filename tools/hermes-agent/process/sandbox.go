package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Sandbox runs commands on this machine that can change only the folder they run in and the
// temporary one, and that reach no network. Where the kernel can, a supervisor beside them
// asks before they reach further.
type Sandbox struct {
	Local
	Launcher []string // a program that calls confine.Exec with the rules, and the command after --
	// Supervisor is a program that calls Supervise with a configuration, and the command after
	// --. Without it nobody is asked: what reaches further fails.
	Supervisor []string
	State      string // a folder for sockets and journals, which no command may change
	Net        confine.Net
	Write      []string // further folders that may be changed
	Deny       []string // files and folders that no answer lets a command change
	// Since is when the session began. What is older and kept nowhere else is asked about before
	// it goes.
	Since time.Time

	mu      sync.Mutex
	ready   bool
	lacks   string // why there is no supervisor
	dir     string // in State; "" without a supervisor
	socket  string
	stop    func()
	running map[string]func(context.Context, feed.Report) error // by id
}

// answerTime is how long the user may take to answer. The end of the command takes its
// question back.
const answerTime = 24 * time.Hour

// Command puts the supervisor, or the launcher, before the shell.
func (s *Sandbox) Command(ctx context.Context, id string, c Command) ([]string, string, error) {
	supervised, err := s.begin(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("sandbox: %w", err)
	}
	rules := s.rules(c.Dir)
	line := append(shell(), c.Line)
	if !supervised {
		text, err := json.Marshal(rules)
		if err != nil {
			return nil, "", fmt.Errorf("sandbox: %w", err)
		}
		return words(s.Launcher, string(text), line), c.Dir, nil
	}
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return nil, "", fmt.Errorf("sandbox: %w", err)
	}
	text, err := s.config(id, dir, rules)
	if err != nil {
		return nil, "", fmt.Errorf("sandbox: %w", err)
	}
	s.mu.Lock()
	s.running[id] = func(ctx context.Context, r feed.Report) error {
		_, err := c.Effect(ctx, effectOf(r, dir))
		return err
	}
	s.mu.Unlock()
	return words(s.Supervisor, text, line), c.Dir, nil
}

func words(program []string, text string, line []string) []string {
	return append(append(append([]string{}, program...), text, "--"), line...)
}

// accepts returns an error if commands cannot run in a folder: a folder with secrets of the user
// in it would show them.
func (s *Sandbox) accepts(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	_, err = s.config("", dir, s.rules(dir))
	return err
}

func (s *Sandbox) rules(dir string) confine.Rules {
	return confine.Rules{Write: append([]string{dir}, s.Write...), Net: s.Net}
}

// config is the configuration of a supervisor.
func (s *Sandbox) config(id, dir string, rules confine.Rules) (string, error) {
	rules.Sockets = true // whom a command may talk to is asked about
	box, err := (&confine.Sandbox{Rules: &rules}).Box(nil, os.Environ())
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(shim.Config{
		Root: dir, Journal: filepath.Join(s.dir, id), Socket: s.socket, Agent: "hermes-agent", Session: id, Sandbox: box.Rules,
		Gate: &shim.Gate{Effects: true, Since: s.Since, Timeout: answerTime, Deny: append([]string{s.State, s.socket}, s.Deny...)},
	})
	return string(text), err
}

// Asks reports whether what reaches further than the project is asked about, and if it is not,
// why not.
func (s *Sandbox) Asks(ctx context.Context) (lacks string, err error) {
	supervised, err := s.begin(ctx)
	switch {
	case err != nil || supervised:
		return "", err
	case len(s.Supervisor) == 0:
		return "this system has no supervisor", nil
	}
	return s.lacks, nil
}

// Reach is this machine. If there is no supervisor, or the sandbox does not work, nobody is asked
// when something happens.
func (s *Sandbox) Reach(ctx context.Context) Reach {
	if supervised, err := s.begin(ctx); err != nil || !supervised {
		return Machine
	}
	return Asked
}

// begin listens for questions, once. It reports false if there is no supervisor.
func (s *Sandbox) begin(ctx context.Context) (supervised bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return s.dir != "", nil
	}
	if len(s.Supervisor) == 0 {
		s.ready = true
		return false, nil
	}
	var b [6]byte
	rand.Read(b[:])
	dir := filepath.Join(s.State, hex.EncodeToString(b[:]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	s.dir, s.socket = dir, feed.Path(dir)
	if supervised, err = s.works(ctx, dir); !supervised {
		os.RemoveAll(dir)
		s.dir = ""
		s.ready = err == nil
		return false, err
	}
	l, err := feed.Listen(s.socket)
	if err != nil {
		os.RemoveAll(dir)
		s.dir = ""
		return false, err
	}
	s.running = make(map[string]func(context.Context, feed.Report) error)
	server := &feed.Server{Handle: func(context.Context, feed.Report) error { return nil }, Ask: s.asked}
	serving, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(serving, l) // an error ends questions, and with them what they are about
	}()
	s.stop = func() {
		cancel()
		<-done
		os.RemoveAll(dir)
	}
	s.ready = true
	return true, nil
}

// works tries the supervisor. It reports false without an error on a system that has none.
func (s *Sandbox) works(ctx context.Context, dir string) (bool, error) {
	text, err := s.config("trial", dir, confine.Rules{})
	if errors.Is(err, confine.ErrUnsupported) { // and then the launcher says so
		s.lacks = err.Error()
		return false, nil
	} else if err != nil {
		return false, err
	}
	shell := append(shell(), "exit 7")
	argv := words(s.Supervisor, text, shell)
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 7:
		return true, nil
	case errors.As(err, &exit) && exit.ExitCode() == statusUnavailable:
		s.lacks = strings.TrimSpace(string(out))
		return false, nil
	}
	return false, fmt.Errorf("the supervisor does not work: %w: %s", cmp.Or(err, errors.New("it ran nothing")), out)
}

// asked passes a question of a supervisor on.
func (s *Sandbox) asked(ctx context.Context, r feed.Report) error {
	s.mu.Lock()
	ask := s.running[r.Author.Session]
	s.mu.Unlock()
	if ask == nil {
		return errors.New("nobody can be asked")
	}
	return ask(ctx, r)
}

// Ended forgets a command.
func (s *Sandbox) Ended(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		delete(s.running, id)
		os.RemoveAll(filepath.Join(s.dir, id))
	}
}

// Close ends the questions.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	return nil
}

// The exit statuses of Supervise when the command has not run.
const (
	statusUnavailable = 124
	statusNotStarted  = 125
)

// Supervise runs a command as a configuration says, and returns its exit status. child is the
// command line of a program that calls shim.Child. The arguments are the configuration, --
// and the command.
func Supervise(args, child []string, errs io.Writer) int {
	fail := func(status int, err error) int {
		fmt.Fprintln(errs, "hermes-agent: sandbox:", err)
		return status
	}
	if len(args) < 3 {
		return fail(statusNotStarted, errors.New("a configuration, -- and a command are needed"))
	}
	var c shim.Config
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return fail(statusNotStarted, err)
	}
	path, err := exec.LookPath(args[2])
	if err != nil {
		return fail(statusNotStarted, err)
	}
	status, err := shim.Run(c, child, path, args[2:])
	switch {
	case errors.Is(err, shim.ErrUnavailable):
		return fail(statusUnavailable, err)
	case err != nil:
		return fail(statusNotStarted, err)
	case status < 0:
		shim.Die(syscall.Signal(-status))
	}
	return status
}
