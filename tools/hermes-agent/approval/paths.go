package approval

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/confine"
)

// resolve returns the cleaned path that a word names, with forward slashes; ok is
// false if only the shell knows. The pattern of all files in a folder stands for
// the folder.
func (s *script) resolve(word string) (name string, ok bool) {
	if strings.ContainsRune(word, unknown) {
		return "", false
	}
	if word == "~" || strings.HasPrefix(word, "~/") { // as an argument that no shell expands
		word = s.Home + word[1:]
	}
	if !path.IsAbs(word) {
		if s.Dir == "" {
			return "", false
		}
		word = s.Dir + "/" + word
	}
	for name = path.Clean(word); name != "/" && strings.Trim(path.Base(name), "*?.[]!^") == ""; {
		name = path.Dir(name)
	}
	return name, true
}

// system are the folders without which a machine does not work.
var system = strings.Fields("/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /sbin /sys /usr /usr/bin /usr/lib /usr/local /usr/sbin /var /var/lib /Applications /Library /System /Users /Volumes /private /private/etc /private/var /mnt /media /c /mnt/c")

// isSystem reports whether a word names a folder of the system, or the home
// folder.
func (s *script) isSystem(word string) bool {
	name, ok := s.resolve(word)
	return ok && (slices.Contains(system, name) || name == path.Clean(s.Home) && s.Home != "")
}

func (c *call) wipesSystem() bool {
	switch {
	case slices.Contains(c.args, "--no-preserve-root"):
		return true
	case c.name == "find":
		return slices.Contains(c.args, "-delete") && slices.ContainsFunc(c.starts(), c.isSystem) && !narrows(c.args)
	case c.name == "rm" && !c.flag("r", "R", "--recursive"):
		return false
	}
	return slices.ContainsFunc(c.operands(), c.isSystem)
}

// narrows reports whether the conditions of find leave some files out.
func narrows(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains(strings.Fields("-name -iname -path -ipath -regex -iregex -size -mtime -mmin -atime -empty -user -newer -maxdepth"), a)
	})
}

var device = regexp.MustCompile(`^/dev/(r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper/.|disk/.|loop\d|sr\d|zd\d|nbd\d|mem$|kmem$|port$)`)

func (s *script) isDevice(word string) bool {
	name, ok := s.resolve(word)
	return ok && device.MatchString(name)
}

func (c *call) overwritesDevice() bool {
	switch c.name {
	case "dd":
		return slices.ContainsFunc(c.args, func(a string) bool {
			target, ok := strings.CutPrefix(a, "of=")
			return ok && c.isDevice(target)
		})
	case "cp", "mv":
		list := c.operands()
		return len(list) > 1 && c.isDevice(list[len(list)-1])
	case "fdisk", "parted", "sfdisk", "gdisk", "sgdisk":
		return !c.flag("l", "--list", "p", "--print", "d", "--dump") && slices.ContainsFunc(c.operands(), c.isDevice) && !slices.Contains(c.args, "print")
	case "badblocks":
		return c.flag("w") && slices.ContainsFunc(c.operands(), c.isDevice)
	}
	return slices.ContainsFunc(c.operands(), c.isDevice)
}

// deletesOutside reports whether a file is neither in the working folder nor
// temporary.
func (c *call) deletesOutside() bool {
	return slices.ContainsFunc(c.operands(), func(word string) bool {
		name, ok := c.resolve(word)
		if !ok {
			return strings.ContainsRune(word, unknown) && path.IsAbs(word)
		}
		return name != c.start && !below(c.start, name) && !below("/tmp", name) && !below("/var/tmp", name) && !below(os.TempDir(), name)
	})
}

// below reports whether a path is in a folder. Nothing is in an unknown one.
func below(folder, name string) bool {
	folder = strings.TrimRight(filepath.ToSlash(folder), "/")
	return folder != "" && strings.HasPrefix(name, folder+"/")
}

func (c *call) opensToAll() bool {
	return slices.ContainsFunc(c.operands(), func(mode string) bool {
		if bits, err := strconv.ParseUint(mode, 8, 16); err == nil {
			return bits&0o002 != 0 && bits&0o1000 == 0
		}
		return opens.MatchString(mode)
	})
}

var opens = regexp.MustCompile(`^([ugoa]*[+=-][rwxXst]*,)*[ugo]*[oa][ugoa]*[+=][rxXst]*w`)

func setsUser(mode string) bool {
	bits, err := strconv.ParseUint(mode, 8, 16)
	return err == nil && bits&0o6000 != 0 || err != nil && userBit.MatchString(mode)
}

var userBit = regexp.MustCompile(`^([ugoa]*[+=-][rwxXst]*,)*[ugoa]*[+=][rwxX]*s`)

// written returns the arguments that a program writes to.
func (c *call) written() []string {
	list := c.operands()
	switch c.name {
	case "tee", "touch", "chmod", "chown", "truncate", "rm", "unlink", "vipw":
		return list
	case "sed", "perl", "gsed":
		if c.flag("i", "--in-place") {
			return list
		}
	case "cp", "mv", "ln", "install", "rsync":
		if c.flag("t", "--target-directory") {
			return c.args
		}
		if c.name == "mv" {
			return list
		}
		return list[max(0, len(list)-1):]
	case "dd":
		for _, arg := range c.args {
			if target, ok := strings.CutPrefix(arg, "of="); ok {
				return []string{target}
			}
		}
	case "curl", "wget":
		for i, arg := range c.args {
			if (arg == "-o" || arg == "-O" || arg == "--output" || arg == "--output-document") && i+1 < len(c.args) {
				return c.args[i+1 : i+2]
			}
		}
	case "tar", "unzip":
		for i, arg := range c.args {
			if (arg == "-C" || arg == "-d" || arg == "--directory") && i+1 < len(c.args) {
				return c.args[i+1 : i+2]
			}
		}
	}
	return nil
}

var (
	rawWrite   = rule{name: "raw-device", action: Deny, reason: "overwrites a disk"}
	sysrq      = rule{name: "shutdown", action: Deny, reason: "stops the machine"}
	socket     = rule{name: "remote", action: Ask, reason: "connects a program to the network"}
	systemFile = rule{name: "system-file", action: Ask, reason: "changes files of the system"}
	protected  = rule{name: "protected-file", action: Ask}
	secret     = rule{name: "secret", action: Ask}
)

// texts are programs whose arguments are text, not names of files.
var texts = strings.Fields("echo printf test [ [[ : true false export set")

// files judges the files that a command writes, and those that it names.
func (s *script) files(program string, words, written, named []string) {
	command := strings.Join(words, " ")
	for _, word := range written {
		name, ok := s.resolve(word)
		if strings.HasPrefix(word, "/dev/tcp/") || strings.HasPrefix(word, "/dev/udp/") {
			s.find(socket, socket.reason, command)
		}
		if !ok {
			name = word
		}
		switch why := Protected(name); {
		case device.MatchString(name):
			s.find(rawWrite, rawWrite.reason, command)
		case strings.HasPrefix(name, "/proc/sysrq"):
			s.find(sysrq, sysrq.reason, command)
		case slices.ContainsFunc(strings.Fields("/etc /boot /bin /sbin /usr /lib /lib64 /opt /sys /proc /var /System /Library /private/etc"), func(dir string) bool { return below(dir, name) || name == dir }) &&
			!below("/var/tmp", name) && !below("/proc/self/fd", name) && !below(s.start, name):
			s.find(systemFile, systemFile.reason, command)
		case why != "":
			s.find(protected, "changes "+why, command)
		}
	}
	if slices.Contains(texts, program) {
		return
	}
	if slices.Contains([]string{"grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk"}, program) { // a pattern comes first
		for i, word := range named {
			if !strings.HasPrefix(word, "-") {
				named = append(slices.Clone(named[:i]), named[i+1:]...)
				break
			}
		}
	}
	for _, word := range named {
		word = word[strings.LastIndexAny(word, "=@")+1:]
		name, ok := s.resolve(word)
		if !ok {
			name = word
		}
		if why := s.secret(name); why != "" {
			s.find(secret, why, command)
		}
	}
}

// secret says which secret a path leads to.
func (s *script) secret(name string) string {
	home, _ := os.UserHomeDir()
	for _, hidden := range confine.Secrets() {
		if rest, ok := strings.CutPrefix(filepath.ToSlash(hidden), filepath.ToSlash(home)+"/"); ok && home != "" {
			hidden = path.Join(s.Home, rest)
		}
		if name == hidden || below(hidden, name) {
			return "uses " + path.Base(hidden) + ", which holds secrets"
		}
	}
	if why := secretName(path.Base(name)); why != "" {
		return "uses " + why
	}
	return ""
}

func secretName(base string) string {
	base = strings.ToLower(base)
	switch {
	case base == ".env", strings.HasPrefix(base, ".env.") && !slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, base), base == ".envrc":
		return "a file of secret settings"
	case strings.HasPrefix(base, "id_") && !strings.HasSuffix(base, ".pub") && slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}, base),
		strings.HasSuffix(base, ".pem"), strings.HasSuffix(base, ".p12"), strings.HasSuffix(base, ".pfx"), strings.HasSuffix(base, ".keystore"), base == "credentials.json", base == ".netrc", base == ".git-credentials":
		return "a key"
	}
	return ""
}

// startup are files that other programs run without asking.
var startup = strings.Fields(".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc .cshrc .inputrc .xinitrc .xprofile .tmux.conf .vimrc .exrc .nvim.lua .nvimrc .gitconfig .gitmodules .gdbinit .envrc authorized_keys crontab")

// Protected says why changing a file needs the user, whatever else is allowed:
// it holds secrets, or other programs run what is in it. Empty: it does not.
func Protected(name string) string {
	names := strings.Split(path.Clean(filepath.ToSlash(name)), "/")
	for i, n := range names {
		n = strings.ToLower(n)
		switch {
		case n == ".git" && (i+1 == len(names) || slices.Contains(strings.Fields("hooks config info HEAD modules"), names[i+1])), n == ".hg" || n == ".jj":
			return "the inner files of version control"
		case n == ".ssh" || n == ".gnupg" || n == ".aws" || n == ".kube" || n == ".docker" && i+1 < len(names):
			return "a folder of keys"
		case n == "autostart" || n == "launchagents" || n == "launchdaemons" || n == "systemd" && i > 0 && strings.HasPrefix(names[i-1], "."), n == "nvim" && i > 0 && names[i-1] == ".config", n == ".husky" || n == ".githooks":
			return "what other programs run"
		}
	}
	base := names[len(names)-1]
	if slices.Contains(startup, strings.ToLower(base)) {
		return "what other programs run"
	}
	return secretName(base)
}

// hooks reports whether a variable makes programs load or run other code.
func hooks(variable string) bool {
	return slices.ContainsFunc(strings.Fields("BASH_ENV BASH_FUNC_* SHELLOPTS PROMPT_COMMAND LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_* PYTHONSTARTUP PERL5OPT PERL5LIB RUBYOPT GIT_SSH* GIT_EXTERNAL_DIFF GIT_CONFIG* GIT_EXEC_PATH GIT_ASKPASS SSH_ASKPASS LESSOPEN RUSTC_WRAPPER"), func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return variable == p || open && strings.HasPrefix(variable, prefix)
	})
}
