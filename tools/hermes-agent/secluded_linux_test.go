package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// asSearcher in the environment makes the test program start the agent with a key, and
// look for the key in /proc.
const asSearcher = "HERMES_AGENT_TEST_SEARCHER"

func init() { asOther[asSearcher] = search }

// search starts the agent, as an editor does, with the key that it reads, and prints the
// processes that show the key.
func search() error {
	key, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	os.Unsetenv(asSearcher)
	p, err := launch.Start(context.Background(), launch.Command{
		Path: os.Args[0], Args: []string{"acp"}, Keeper: []string{os.Args[0], keepCommand},
		Env: []string{asProgram + "=1", "OPENAI_API_KEY=" + string(key), "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "HERMES_AGENT_HOME=" + os.Getenv("HOME")},
	})
	if err != nil {
		return err
	}
	defer p.Stop(context.Background())
	t := p.Transport()
	if err := t.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)); err != nil {
		return err
	}
	if _, err := t.Read(nil); err != nil { // it serves by now
		return fmt.Errorf("%w: %s", err, p.Stderr())
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	agents := 0
	for _, dir := range processes {
		words, _ := os.ReadFile(dir + "/cmdline")
		if bytes.HasSuffix(words, []byte("\x00acp\x00")) && strings.Contains(string(words), os.Args[0]) {
			agents++
		}
		environ, err := os.ReadFile(dir + "/environ")
		if err == nil && bytes.Contains(environ, key) {
			fmt.Printf("%s shows the key in its environment: %q\n", dir, words)
		}
		if mem, err := os.Open(dir + "/mem"); err == nil && bytes.HasSuffix(words, []byte("\x00acp\x00")) && strings.Contains(string(words), os.Args[0]) {
			fmt.Printf("%s shows its memory: %q\n", dir, words)
			mem.Close()
		}
	}
	fmt.Println(agents, "processes")
	return nil
}

// Commands of a model must not find the key of the endpoint in /proc.
func TestOtherProcessesDoNotSeeTheKey(t *testing.T) {
	t.Parallel()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		os.Chmod(up, 0o755)
	}
	path := filepath.Join(dir, "agent")
	if err := gobuild.Write(path, string(self)); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = []string{asSearcher + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir, cmd.Stdin = home, strings.NewReader("key-that-nobody-sees")
	if os.Getuid() == 0 { // who sees everything
		os.Chown(home, 12345, 12345)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "2 processes\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
