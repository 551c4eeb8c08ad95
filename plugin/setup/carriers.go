package setup

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// carriers are programs that run another one on another machine, in a container
// or sandbox, or as another user, or that speak with one through a network.
var carriers = []string{
	"ssh", "sshpass", "autossh", "mosh", "et", "rsh", "plink", "dbclient", "tsh", "adb", "socat", "websocat", "nc", "ncat", "netcat", "telnet",
	"docker", "docker-compose", "podman", "nerdctl", "finch", "buildah", "kubectl", "oc", "crictl", "ctr", "runc", "crun", "youki", "lxc", "lxc-attach", "lxc-execute",
	"incus", "limactl", "multipass", "vagrant", "virsh", "qemu-system-x86_64", "wsl", "devcontainer", "nomad", "ansible", "pdsh",
	"distrobox", "distrobox-enter", "toolbox", "apptainer", "singularity", "flatpak", "systemd-nspawn", "machinectl", "runsc", "kata-runtime",
	"bwrap", "firejail", "nsjail", "minijail0", "chroot", "proot", "fakechroot", "nsenter", "unshare", "setpriv", "sandbox-exec",
	"sudo", "doas", "su", "runuser", "runas", "pkexec", "gosu", "su-exec", "setuidgid", "chpst", "run0", "systemd-run", "psexec", "winrs",
}

// clouds are programs that have a carrier among much else.
var clouds = []string{"gcloud", "az", "aws", "gh", "fly", "flyctl", "coder", "doctl", "heroku", "railway", "devpod", "gitpod", "daytona", "orb", "colima", "ibmcloud"}

// RunsElsewhere reports whether the agent is known not to run here as the user.
func (c Command) RunsElsewhere() bool {
	return c.IsRemote() || slices.Contains(carriers, programName(c.Command))
}

// MayRunElsewhere reports whether the agent may run elsewhere, because a carrier is
// named anywhere: as its program, in the arguments of a program such as env, or in
// the script that starts it.
func (c Command) MayRunElsewhere() bool {
	return c.RunsElsewhere() || NamesCarrier(c.Command) || slices.ContainsFunc(c.Args, NamesCarrier) ||
		slices.ContainsFunc(scriptLines(c.Command, c.Cwd), NamesCarrier)
}

// programName is the name of a program by which it is known.
func programName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}

// NamesCarrier reports whether a word of a text is the name or the path of a
// carrier or of a cloud's program.
func NamesCarrier(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	})
	return slices.ContainsFunc(words, func(word string) bool {
		name := programName(word)
		return slices.Contains(carriers, name) || slices.Contains(clouds, name)
	})
}

// longestWrapper is how long a script of Python or Node may be that only starts another
// program, in bytes.
const longestWrapper = 4 << 10

// scriptLines are the first lines of a script that are no comments, none for any other
// program.
func scriptLines(program, folder string) []string {
	path := program
	if !filepath.IsAbs(path) && filepath.Base(path) != path {
		path = filepath.Join(folder, path)
	} else if found, err := exec.LookPath(path); err == nil {
		path = found
	}
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	interpreter := strings.FieldsFunc(lines[0], func(r rune) bool { return strings.ContainsRune("#! \t/\r", r) })
	shell := slices.ContainsFunc(interpreter, func(word string) bool { return strings.HasSuffix(word, "sh") })
	if !shell && len(text) > longestWrapper {
		return nil // a program, which may have any word in it
	}
	return slices.DeleteFunc(lines[1:], func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "*")
	})
}
