package approval

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/special"
)

// resolve returns the cleaned path that a word names, with forward slashes; ok is
// false if only the shell knows. The pattern of all files in a folder stands for
// the folder.
func (s *script) resolve(word string) (name string, ok bool) {
	name = s.locate(word)
	if name == "" || strings.ContainsRune(name, unknown) {
		return "", false
	}
	return name, true
}

// locate is resolve for words with parts that only the shell knows. It returns "" if
// the path begins with such a part. Such a part in the middle is taken to lead down.
func (s *script) locate(word string) (name string) {
	if word == "~" || strings.HasPrefix(word, "~/") { // as an argument that no shell expands
		word = s.Home + word[1:]
	}
	if !path.IsAbs(word) {
		if s.Dir == "" || strings.HasPrefix(word, string(unknown)) {
			return ""
		}
		word = s.Dir + "/" + word
	}
	names := strings.Split(word, "/")
	for i, n := range names {
		if up, err := path.Match(n, ".."); n != "*" && (up && err == nil || extended.MatchString(n)) {
			names[i] = ".." // a pattern that may go up
		}
	}
	for name = path.Clean(strings.Join(names, "/")); name != "/" && strings.Trim(path.Base(name), "*?.[]!^") == ""; {
		name = path.Dir(name)
	}
	return name
}

// extended matches patterns of Bash that path.Match does not know.
var extended = regexp.MustCompile(`[?*+@!]\(`)

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
		return c.outside(name)
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
	case "tee", "touch", "mkdir", "rmdir", "mkfifo", "truncate", "rm", "unlink", "vipw":
		return list
	case "chmod", "chown":
		return list[min(1, len(list)):]
	case "sed", "perl", "gsed":
		if c.flag("i", "--in-place") {
			return c.edited()
		}
	case "cp", "mv", "ln", "install", "rsync":
		switch {
		case c.name == "ln", c.name == "cp" && c.flag("s", "l", "--symbolic-link", "--link"):
			return c.linked() // through the link, too
		case c.flag("t", "--target-directory"):
			return c.args
		case c.name == "mv":
			return list
		}
		return list[max(0, len(list)-1):]
	case "dd":
		for _, arg := range c.args {
			if target, ok := strings.CutPrefix(arg, "of="); ok {
				return []string{target}
			}
		}
	case "curl":
		return c.values("o", "--output", "--output-dir")
	case "wget":
		return c.values("O", "P", "--output-document", "--directory-prefix")
	case "tar", "unzip":
		return c.values("C", "d", "--directory")
	case "patch":
		return append(c.values("d", "o", "--directory", "--output"), list...)
	case "git":
		switch {
		case c.sub("clone"), c.sub("init"):
			return list[1:]
		case c.sub("worktree", "add"):
			return list[2:]
		}
	}
	return nil
}

// values returns the values of options: a letter, which may be the last one behind a
// dash, or a name.
func (c *call) values(options ...string) (list []string) {
	for i, arg := range c.args {
		for _, o := range options {
			if value, ok := strings.CutPrefix(arg, o+"="); ok && len(o) > 1 {
				list = append(list, value)
			}
			given := arg == o || len(o) == 1 && len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(arg, o)
			if given && i+1 < len(c.args) {
				list = append(list, c.args[i+1])
			}
		}
	}
	return list
}

// edited returns the files that sed or perl changes in place, without the script.
func (c *call) edited() (files []string) {
	scripts := "ef" // letters of options with a script
	if c.name == "perl" {
		scripts = "eE"
	}
	inOption := false
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case arg == "--":
			files = append(files, c.args[i+1:]...)
			i = len(c.args)
		case arg == "--expression" || arg == "--file":
			inOption = true
			i++
		case strings.HasPrefix(arg, "--"):
			inOption = inOption || strings.HasPrefix(arg, "--expression=") || strings.HasPrefix(arg, "--file=")
		case len(arg) > 1 && arg[0] == '-':
			at := strings.IndexAny(arg, scripts+"i") // after i comes the end of a name
			if at > 0 && arg[at] != 'i' {
				if inOption = true; at == len(arg)-1 {
					i++
				}
			}
		default:
			files = append(files, arg)
		}
	}
	if !inOption && len(files) > 0 {
		return files[1:]
	}
	return files
}

// linked returns the files that get another name, and their new names. The target of a
// symbolic link is relative to the folder of the link.
func (c *call) linked() []string {
	list := c.operands()
	last := len(list) - 1
	if !c.flag("s", "--symbolic", "--symbolic-link") || last < 1 || c.flag("t", "--target-directory") {
		return list
	}
	list = slices.Clone(list)
	for i, to := range list[:last] {
		if !path.IsAbs(to) && !strings.HasPrefix(to, "~") && !strings.HasPrefix(to, string(unknown)) {
			list[i] = path.Dir(list[last]) + "/" + to
		}
	}
	return list
}

var (
	rawWrite   = rule{name: "raw-device", action: Deny, reason: "overwrites a disk"}
	sysrq      = rule{name: "shutdown", action: Deny, reason: "stops the machine"}
	socket     = rule{name: "remote", action: Ask, reason: "connects a program to the network"}
	systemFile = rule{name: "system-file", action: Ask, reason: "changes files of the system"}
	outsider   = rule{name: "write-outside", action: Ask, reason: "changes files outside the project"}
	anywhere   = rule{name: "write-outside", action: Ask, reason: "changes files that only the shell knows"}
	own        = rule{name: "own-settings", action: Deny, reason: "changes the settings of Hermes or of this agent"}
	protected  = rule{name: "protected-file", action: Ask}
	secret     = rule{name: "secret", action: Ask}
)

// deletesFiles names where files are deleted, which has a rule of its own.
var deletesFiles = rule{programs: "rm unlink shred srm truncate"}

// texts are programs whose arguments are text, not names of files.
var texts = strings.Fields("echo printf test [ [[ : true false export set")

// files judges the files that a command writes, and those that it names.
func (s *script) files(program string, words, written, named []string) {
	command := strings.Join(words, " ")
	for _, word := range written {
		name := s.locate(word)
		ok := name != ""
		if strings.HasPrefix(word, "/dev/tcp/") || strings.HasPrefix(word, "/dev/udp/") {
			s.find(socket, socket.reason, command)
		}
		if !ok {
			name = word
		}
		switch why := Protected(s.start, name); {
		case ok && s.isOwn(name):
			s.find(own, own.reason, command)
		case device.MatchString(name):
			s.find(rawWrite, rawWrite.reason, command)
		case strings.HasPrefix(name, "/proc/sysrq"):
			s.find(sysrq, sysrq.reason, command)
		case slices.ContainsFunc(strings.Fields("/etc /boot /bin /sbin /usr /lib /lib64 /opt /sys /proc /var /System /Library /private/etc"), func(dir string) bool { return below(dir, name) || name == dir }) &&
			!below("/var/tmp", name) && !below("/proc/self/fd", name) && !below(s.start, name):
			s.find(systemFile, systemFile.reason, command)
		case why != "":
			s.find(protected, "changes "+why, command)
		case isStream(name), deletesFiles.about(program):
		case !ok:
			s.find(anywhere, anywhere.reason, command)
		case s.outside(name):
			s.find(outsider, outsider.reason, command)
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
		why := holds(s.secrets, s.start, name)
		if why == "" && ofProcesses(name, words) {
			why = "reads the variables or the memory of other programs, which hold secrets"
		}
		if why != "" {
			s.find(secret, why, command)
		}
	}
}

// secrets returns the files and folders of the user and of the machine that hold secrets.
func secrets(home string) []string {
	list := special.Hidden(home, os.Getenv)
	for i, name := range list {
		list[i] = filepath.ToSlash(name)
	}
	return list
}

// holds says why reading a file needs the user: it holds keys, tokens or passwords, or the
// logins and conversations of an agent. Empty: it does not.
func holds(secrets []string, project, name string) string {
	of := ""
	if i := slices.IndexFunc(secrets, func(dir string) bool { return name == dir || below(dir, name) }); i >= 0 {
		of = secrets[i]
	} else if special.Secret(names(project, name)) {
		of = name
	}
	if of == "" {
		return ""
	}
	return "uses " + path.Base(of) + ", which holds secrets"
}

// names are the words of a path, and how many of them lead to the project, if it is in it.
func names(project, name string) (list []string, above int) {
	name, project = path.Clean(filepath.ToSlash(name)), strings.TrimRight(filepath.ToSlash(project), "/")
	if below(project, name) {
		above = strings.Count(project, "/")
	}
	return strings.Split(strings.Trim(name, "/"), "/"), above
}

// ofProcesses reports whether a path leads to the variables or the memory of a process other
// than the command itself. The user's other programs are all there. words are the words of
// the command, which may look for such files below the path.
func ofProcesses(name string, words []string) bool {
	names := strings.Split(strings.Trim(name, "/"), "/")
	if !strings.HasPrefix(name, "/") || names[0] != "proc" {
		return false
	}
	if len(names) > 1 && slices.Contains([]string{"self", "thread-self"}, names[1]) {
		return false
	}
	if len(names) < 3 {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "environ") })
	}
	last := strings.ReplaceAll(names[len(names)-1], string(unknown), "*")
	return slices.ContainsFunc([]string{"environ", "mem"}, func(hidden string) bool {
		named, _ := path.Match(last, hidden)
		return named
	})
}

// Protected says why changing a file needs the user, whatever else is allowed: it
// holds secrets, or other programs run or trust what is in it. The file is in the folder
// of a project, or elsewhere. Empty: it does not.
func Protected(project, name string) string {
	words, above := names(project, name)
	last := words[len(words)-1]
	if i := slices.Index(words, ".git"); i >= 0 && special.GitKeeps(words[i+1:]) {
		return ""
	}
	switch f := special.Of(words, above); {
	case f.Secret:
		return last + ", which holds secrets"
	case f.Use != "" && last != "build" && last != "workspace": // the files of Bazel are in capitals
		return "what other programs run or trust (" + f.Use + ")"
	}
	return ""
}

// own returns the folders of our own settings, and where they really are: settings are
// often links into a folder of their own.
func (p Place) own() (list []string) {
	for _, dir := range p.Own {
		list = append(list, filepath.ToSlash(dir))
	}
	for _, dir := range special.Own(p.Home, os.Getenv) {
		list = append(list, filepath.ToSlash(dir))
	}
	for _, dir := range slices.Clone(list) {
		list = append(list, real(dir))
	}
	return list
}

// isOwn reports whether a path leads to our own settings, or to something in
// them.
func (s *script) isOwn(name string) bool {
	for _, name := range []string{name, real(name)} {
		if slices.ContainsFunc(s.settings, func(dir string) bool { return name == dir || below(dir, name) }) {
			return true
		}
	}
	return false
}

// real returns where the links on the way of a path lead. The file need not exist.
func real(name string) string {
	rest := ""
	for range maxLinks {
		to, err := filepath.EvalSymlinks(name)
		if err == nil {
			return path.Join(filepath.ToSlash(to), rest)
		}
		if to, err = os.Readlink(name); err == nil { // to nothing yet
			if name = path.Join(path.Dir(name), to); path.IsAbs(filepath.ToSlash(to)) {
				name = path.Clean(filepath.ToSlash(to))
			}
			continue
		}
		rest = path.Join(path.Base(name), rest)
		name = path.Dir(name)
	}
	return path.Join(name, rest)
}

// maxLinks bounds the folders and links that real looks at.
const maxLinks = 100

// readers are programs that change no file that they are given.
var readers = strings.Fields("cat head tail less more bat grep egrep fgrep rg ag ls dir tree stat file wc diff cmp du df md5sum sha1sum sha256sum jq yq cut sort uniq nl od xxd hexdump strings test [ [[ cd pushd realpath readlink basename dirname cp")

// touchesOwn reports whether a program that may change files gets a file of our own
// settings, or runs among them. A script that names them is one, too.
func (c *call) touchesOwn() bool {
	if slices.Contains(readers, c.name) || slices.Contains(texts, c.name) {
		return false
	}
	if c.Dir != "" && c.isOwn(c.Dir) {
		return true
	}
	return slices.ContainsFunc(c.args, func(arg string) bool {
		for _, word := range append(strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`=,;:()[]{}<>|&@", r) }), arg) {
			if name, ok := c.resolve(word); ok && strings.ContainsAny(word, "/~") && c.isOwn(name) {
				return true
			}
		}
		return false
	})
}

// outside reports whether a file is neither in the folder of the project nor temporary.
// Where links lead decides.
func (s *script) outside(name string) bool {
	name = real(name)
	return name != real(s.start) && !slices.ContainsFunc(append([]string{s.start}, s.temporary...), func(dir string) bool { return below(real(dir), name) })
}

// isStream reports whether a path stands for something that is no file to keep.
func isStream(name string) bool {
	return slices.Contains(strings.Fields("/dev/null /dev/zero /dev/full /dev/tty /dev/stdin /dev/stdout /dev/stderr"), name) || below("/dev/fd", name) || below("/dev/pts", name) || below("/dev/tcp", name) || below("/dev/udp", name) || below("/proc/self/fd", name)
}

// hooks reports whether a variable makes programs load or run other code.
func hooks(variable string) bool {
	return slices.ContainsFunc(strings.Fields("BASH_ENV BASH_FUNC_* SHELLOPTS PROMPT_COMMAND LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_* PYTHONSTARTUP PERL5OPT PERL5LIB RUBYOPT GIT_SSH* GIT_EXTERNAL_DIFF GIT_CONFIG* GIT_EXEC_PATH GIT_ASKPASS SSH_ASKPASS LESSOPEN RUSTC_WRAPPER"), func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return variable == p || open && strings.HasPrefix(variable, prefix)
	})
}
