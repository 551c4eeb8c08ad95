package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

const (
	defaultLinger = 5 * time.Second
	startTime     = 20 * time.Second // that the app-server may take to listen
	lookAgain     = 20 * time.Millisecond
	partingTime   = time.Second // that the app-server may take to end after its connections
)

// Options configure a hub.
type Options struct {
	Dir string
	// Command is codex with the arguments of an app-server, to which the socket is
	// added. Its Wrapper is known to Join.
	Command launch.Command
	// Linger is how long the hub stays without connections: 5 s when 0.
	Linger time.Duration
}

// Serve is a hub, until nobody has been connected for a while or ctx ends. When
// another hub serves the folder it returns nil at once.
func Serve(ctx context.Context, opts Options) error {
	if err := atomicfile.OwnDir(opts.Dir); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(opts.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := atomicfile.TryLock(lock); errors.Is(err, atomicfile.ErrLocked) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	if err := writeWrapper(opts.Dir, opts.Command.Wrapper); err != nil {
		return err
	}
	l, err := socket.ListenUnix(Socket(opts.Dir))
	if err != nil {
		return err
	}
	h := &hub{opts: opts, linger: cmp.Or(opts.Linger, defaultLinger)}
	ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	context.AfterFunc(ctx, func() { l.Close() })
	h.idle = time.AfterFunc(h.linger, h.cancel)
	var open sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			break
		}
		h.count(1)
		open.Go(func() {
			defer h.count(-1)
			h.serve(ctx, c)
		})
	}
	h.cancel()
	open.Wait()
	return h.stop()
}

// hub is the state of Serve.
type hub struct {
	opts   Options
	linger time.Duration
	cancel context.CancelFunc
	idle   *time.Timer // runs while there is no connection

	mu    sync.Mutex
	conns int
	app   *server
}

// server is one run of the app-server.
type server struct {
	*launch.Process
	noted chan struct{} // closed when the reason of its end is on the disk
}

func (h *hub) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle.Stop()
	if h.conns += n; h.conns == 0 {
		h.idle.Reset(h.linger)
	}
}

// serve passes a connection on to the app-server until either end closes it.
func (h *hub) serve(ctx context.Context, c net.Conn) {
	defer c.Close()
	app, up, err := h.reach(ctx)
	if err != nil {
		return // lastFile says why
	}
	defer up.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); up.Close() })()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(up, c) // the other end sees that it is closed
		up.Close()
	}()
	_, _ = io.Copy(c, up)
	select { // so that clients can say why
	case <-app.noted:
	case <-over:
	case <-time.After(partingTime):
	}
	c.Close()
	<-over
}

// reach connects to the app-server, and starts it unless it runs.
func (h *hub) reach(ctx context.Context) (*server, net.Conn, error) {
	app, err := h.running()
	if err != nil {
		h.note(err)
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "unix", filepath.Join(h.opts.Dir, innerFile))
		if err == nil {
			return app, c, nil
		}
		select {
		case <-app.noted:
			return nil, nil, app.Err()
		case <-ctx.Done():
			h.note(fmt.Errorf("the app-server does not listen: %w", err))
			return nil, nil, err
		case <-time.After(lookAgain):
		}
	}
}

func (h *hub) running() (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.app != nil {
		select {
		case <-h.app.Done():
		default:
			return h.app, nil
		}
	}
	inner := filepath.Join(h.opts.Dir, innerFile)
	_ = os.Remove(inner) // of one that was killed
	_ = os.Remove(filepath.Join(h.opts.Dir, lastFile))
	command := h.opts.Command
	command.Args = append(command.Args[:len(command.Args):len(command.Args)], "--listen", "unix://"+inner)
	command.EOFWait = lookAgain // it does not read its input
	p, err := launch.Start(context.Background(), command)
	if err != nil {
		return nil, err
	}
	h.app = &server{p, make(chan struct{})}
	go h.attend(h.app)
	return h.app, nil
}

// attend waits for the end of an app-server.
func (h *hub) attend(app *server) {
	defer close(app.noted)
	var err error
	for err == nil { // what it writes is for people
		_, err = app.Transport().Read(nil)
	}
	<-app.Done()
	h.note(app.Err())
}

// note keeps the reason why there is no app-server, for Join.
func (h *hub) note(err error) {
	_ = os.WriteFile(filepath.Join(h.opts.Dir, lastFile), []byte(err.Error()), 0o600) // nobody is left to report to
}

// stop ends the app-server.
func (h *hub) stop() error {
	h.mu.Lock()
	app := h.app
	h.mu.Unlock()
	if app == nil {
		return nil
	}
	err := app.Stop(context.Background())
	<-app.noted
	return err
}
