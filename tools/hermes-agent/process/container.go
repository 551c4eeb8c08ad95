package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// Container runs commands in one container, which starts with the first of them.
// The project is mounted there at the same path, so commands can change it and
// nothing else of this machine.
type Container struct {
	program string // docker or podman
	image   string
	root    string
	options []string
	keeper  []string

	mu      sync.Mutex
	holder  *terminal.Manager // runs the container; it ends with its input
	name    string
	started error
}

// NewContainer returns a backend that has not started its container. The program
// is docker or podman, options are options of its run command.
func NewContainer(program, image, root string, options, keeper []string) *Container {
	return &Container{program: program, image: image, root: root, options: options, keeper: keeper}
}

// Command runs the line in a shell in the container.
func (c *Container) Command(ctx context.Context, id string, cmd Command) ([]string, string, error) {
	if err := c.start(ctx); err != nil {
		return nil, "", err
	}
	dir := cmd.Dir
	if dir != c.root && !strings.HasPrefix(dir, strings.TrimSuffix(c.root, "/")+"/") {
		dir = c.root
	}
	flags := []string{"exec", "-i"}
	if cmd.PTY {
		flags = []string{"exec", "-it"}
	}
	return append(append([]string{c.program}, flags...), c.name, "sh", "-c", remember, "sh", note(id), dir, cmd.Line), "", nil
}

// ready is what the container prints when commands can run in it.
const ready = "hermes-container-ready"

// start starts the container. It runs as long as its input is open, so it ends
// when the agent does, however that ends.
func (c *Container) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder != nil || c.started != nil {
		return c.started
	}
	var b [6]byte
	rand.Read(b[:])
	c.name = "hermes-agent-" + hex.EncodeToString(b[:])
	up, said := make(chan struct{}), ""
	var once sync.Once
	down := make(chan struct{})
	holder := terminal.New(terminal.Options{
		Env: environment(c, nil), Shell: terminal.ShellNever, Keeper: c.keeper, Input: true,
		OnData: func(_ acp.TerminalID, text string, _ int) {
			if said += text; strings.Contains(said, ready) {
				once.Do(func() { close(up) })
			}
		},
		OnExit: func(acp.TerminalID, terminal.Status) { close(down) },
	})
	args := []string{"run", "--rm", "-i", "--init", "--name", c.name, "-v", c.root + ":" + c.root, "-w", c.root}
	if uid := os.Getuid(); c.program == "docker" && uid > 0 { // or new files of the project belong to root
		args = append(args, "--user", fmt.Sprintf("%d:%d", uid, os.Getgid()))
	}
	args = append(append(args, c.options...), c.image, "sh", "-c", "echo "+ready+"; exec cat >/dev/null")
	id, err := holder.Create(ctx, terminal.Request{Command: c.program, Args: args})
	if err == nil {
		select {
		case <-up:
		case <-down:
			text, _, _, _ := holder.Output(id)
			err = errors.New(strings.TrimSpace(text))
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		holder.Close()
		if ctx.Err() == nil {
			c.started = fmt.Errorf("start a container of %s with %s: %w", c.image, c.program, err)
			return c.started
		}
		return fmt.Errorf("start a container of %s with %s: %w", c.image, c.program, err)
	}
	c.holder = holder
	return nil
}

// End ends the command in the container.
func (c *Container) End(id string) {
	c.mu.Lock()
	running := c.holder != nil
	c.mu.Unlock()
	if !running {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	exec.CommandContext(ctx, c.program, "exec", c.name, "sh", "-c", forgetful, "sh", note(id)).Run() // it may have ended, which is an error
}

// Reach is nothing that matters.
func (*Container) Reach(context.Context) Reach { return Isolated }

// Close ends the container.
func (c *Container) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = errors.New("the session is over")
	if c.holder == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	exec.CommandContext(ctx, c.program, "rm", "-f", c.name).Run() // it ends anyway, but maybe later
	err := c.holder.Close()
	c.holder = nil
	return err
}
