package approval

import (
	"path"
	"slices"
	"strings"
)

// call is one program with its arguments.
type call struct {
	name string // without folder, in lower case: some systems ignore case
	args []string
	in   input
	*script
}

// call judges the words of a simple command.
func (s *script) call(words []string, in input) {
	for range maxDepth * 2 {
		if s.left.calls--; s.left.calls < 0 || !s.spend(len(words)) {
			break
		}
		c := &call{name: programName(words[0]), args: words[1:], in: in, script: s}
		c.judge()
		if words = c.unwrap(); len(words) == 0 {
			return
		}
	}
	s.find(unreadable, "too many commands", strings.Join(words, " "))
}

// programName is the name of a program as the user knows it.
func programName(word string) string {
	word = strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	return strings.TrimSuffix(word, ".exe")
}

func (c *call) String() string { return strings.Join(append([]string{c.name}, c.args...), " ") }

func (c *call) judge() {
	if strings.ContainsAny(c.name, string(unknown)+"*?[") && c.name != "[" && c.name != "[[" {
		c.find(computed, computed.reason, c.String())
	}
	if c.name == "cd" || c.name == "pushd" {
		c.chdir(c.args)
	}
	c.scripts()
	c.files(c.name, append([]string{c.name}, c.args...), c.written(), c.args)
	for _, r := range rules {
		if r.about(c.name) && (r.when == nil || r.when(c)) {
			c.find(r, r.reason, c.String())
		}
	}
}

// flag reports whether an option is given: a letter, alone or with others behind
// one dash, or a name behind two, which may be cut short.
func (c *call) flag(options ...string) bool {
	for _, arg := range c.args {
		if arg == "--" {
			return false
		}
		name, _, _ := strings.Cut(arg, "=")
		for _, o := range options {
			switch {
			case len(o) == 1 && len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, o),
				strings.HasPrefix(o, "--") && len(name) > 3 && strings.HasPrefix(o, name),
				strings.HasPrefix(o, "-") && arg == o:
				return true
			}
		}
	}
	return false
}

// operands are the arguments that are not options.
func (c *call) operands() []string {
	var list []string
	for i, arg := range c.args {
		if arg == "--" {
			return append(list, c.args[i+1:]...)
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			list = append(list, arg)
		}
	}
	return list
}

// sub reports whether the first operands are these words.
func (c *call) sub(words ...string) bool {
	list := c.operands()
	return len(list) >= len(words) && slices.Equal(list[:len(words)], words)
}

// wrapper is a program that runs the command that its arguments name.
type wrapper struct {
	values  string // options whose value is the next word
	skip    int    // operands before the command
	assigns bool   // NAME=value may come before the command
	appends bool   // arguments of the command come from the input
}

var wrappers = map[string]wrapper{
	"sudo":        {values: "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --chdir --chroot", assigns: true},
	"doas":        {values: "-u -C"},
	"env":         {values: "-u --unset -C --chdir -S --split-string -P", assigns: true},
	"pkexec":      {values: "--user"},
	"runuser":     {values: "-u -g -G -s --user --group --shell"},
	"nohup":       {},
	"setsid":      {},
	"command":     {},
	"builtin":     {},
	"exec":        {values: "-a"},
	"nice":        {values: "-n --adjustment"},
	"ionice":      {values: "-c -n -p --class --classdata"},
	"chrt":        {skip: 1},
	"taskset":     {skip: 1},
	"timeout":     {values: "-s -k --signal --kill-after", skip: 1},
	"gtimeout":    {values: "-s -k --signal --kill-after", skip: 1},
	"stdbuf":      {values: "-i -o -e --input --output --error"},
	"time":        {values: "-f -o --format --output"},
	"chroot":      {skip: 1},
	"unshare":     {values: "-S -G -R -w --setuid --setgid --root --wd"},
	"nsenter":     {values: "-t -S -G --target --setuid --setgid"},
	"systemd-run": {values: "-p -u -E -t -M -H --unit --property --setenv --slice --description"},
	"firejail":    {},
	"xargs":       {values: "-I -n -P -L -d -E -s -a --max-args --max-procs --replace --delimiter --arg-file --max-lines", appends: true},
	"parallel":    {values: "-j -I -N -n -a -d --jobs --delay --timeout --retries", appends: true},
	"strace":      {values: "-e -o -p -s -u -E -a -P"},
	"ltrace":      {values: "-e -o -p -s -u -a"},
	"flock":       {values: "-w -E -c --timeout --conflict-exit-code --command", skip: 1},
	"watch":       {values: "-n --interval"},
	"busybox":     {},
	"toybox":      {},
	"unbuffer":    {},
	"chronic":     {},
	"caffeinate":  {values: "-t -w"},
	"rlwrap":      {values: "-f -H -C -b"},
	"proot":       {values: "-r -b -w -q -R -S"},
	"catchsegv":   {},
	"noglob":      {},
	"nocorrect":   {},
	"winpty":      {},
}

// unwrap returns the words of the command that a wrapper runs, if it is one.
func (c *call) unwrap() []string {
	w, ok := wrappers[c.name]
	if !ok || c.name == "command" && c.flag("v", "V") {
		return nil
	}
	values, skip := strings.Fields(w.values), w.skip
	args := c.args
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			args = args[1:]
			return c.appended(args[min(skip, len(args)):], w)
		case c.name == "env" && (arg == "-S" || arg == "--split-string" || strings.HasPrefix(arg, "--split-string=")), c.name == "env" && strings.HasPrefix(arg, "-S"):
			text := strings.TrimPrefix(strings.TrimPrefix(arg, "--split-string="), "-S")
			c.text(strings.Join(append([]string{strings.TrimPrefix(text, "--split-string")}, args[1:]...), " "))
			return nil
		case len(arg) > 1 && arg[0] == '-':
			if slices.Contains(values, arg) && len(args) > 1 {
				args = args[1:]
			}
		case w.assigns && strings.Contains(arg, "="):
			if name, _, _ := strings.Cut(arg, "="); hooks(name) {
				c.find(hooked, hooked.reason+": "+name, c.String())
			}
		case skip > 0:
			skip--
		default:
			return c.appended(args, w)
		}
		args = args[1:]
	}
	return nil
}

// appended adds the arguments that xargs reads.
func (c *call) appended(words []string, w wrapper) []string {
	if !w.appends || len(words) == 0 || programName(words[0]) == "echo" {
		return words
	}
	read, one := []string{string(unknown)}, string(unknown)
	if c.in.own {
		read = strings.Fields(c.in.text)
	}
	if len(read) == 1 {
		one = read[0]
	}
	words = slices.Clone(words)
	for i, word := range words[1:] {
		words[i+1] = strings.ReplaceAll(word, "{}", one)
	}
	return append(words, read...)
}

var shells = strings.Fields("sh bash rbash dash zsh ksh mksh ash yash fish csh tcsh")

// scripts judges texts that the program runs as a script.
func (c *call) scripts() {
	switch {
	case slices.Contains(shells, c.name):
		c.shell()
	case c.name == "eval":
		c.inner(strings.Join(c.args, " "))
	case c.name == "." || c.name == "source":
		if len(c.args) > 0 && (strings.ContainsRune(c.args[0], unknown) || standardInput(c.args[0])) {
			c.find(computed, computed.reason, c.String())
		}
	case c.name == "trap" && len(c.args) > 1 && c.args[0] != "-" && c.args[0] != "-p" && c.args[0] != "-l":
		c.inner(c.args[0])
	case c.name == "alias":
		for _, arg := range c.args {
			if _, value, ok := strings.Cut(arg, "="); ok {
				c.inner(value)
			}
		}
	case c.name == "su" || c.name == "script" || c.name == "flock" || c.name == "runuser":
		for i, arg := range c.args {
			if (arg == "-c" || arg == "--command") && i+1 < len(c.args) {
				c.inner(c.args[i+1])
			} else if text, ok := strings.CutPrefix(arg, "--command="); ok {
				c.inner(text)
			}
		}
	case c.name == "watch":
		if words := c.unwrap(); len(words) > 0 {
			c.inner(strings.Join(words, " "))
		}
	case c.name == "ssh":
		if list := c.operands(); len(list) > 1 {
			c.inner(strings.Join(list[1:], " "))
		}
	case c.name == "find":
		c.found()
	}
}

// shell judges what a shell runs: the text after -c, or what it reads.
func (c *call) shell() {
	for i, arg := range c.args {
		switch {
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+'):
			if arg[1] != '-' && strings.Contains(arg, "c") {
				rest := slices.DeleteFunc(slices.Clone(c.args[i+1:]), func(a string) bool { return len(a) > 1 && (a[0] == '-' || a[0] == '+') && a != "-" })
				if len(rest) > 0 {
					c.inner(rest[0])
				}
				return
			}
			if arg == "-s" {
				c.reads()
				return
			}
		case strings.ContainsRune(arg, unknown):
			c.find(computed, computed.reason, c.String())
			return
		case standardInput(arg):
			c.reads()
			return
		default:
			return // a file
		}
	}
	c.reads()
}

func standardInput(name string) bool {
	return name == "-" || path.Clean(name) == "/dev/stdin" || path.Clean(name) == "/dev/fd/0" || path.Clean(name) == "/proc/self/fd/0"
}

// reads judges the input of a program that runs what it reads.
func (c *call) reads() {
	switch {
	case c.in.own && strings.ContainsRune(c.in.text, unknown):
		c.find(piped, piped.reason, c.String())
		if strings.Trim(c.in.text, string(unknown)) != "" {
			c.text(c.in.text)
		}
	case c.in.own:
		c.text(c.in.text)
	}
}

// inner judges a script that is an argument.
func (c *call) inner(text string) {
	if strings.ContainsRune(text, unknown) {
		c.find(computed, computed.reason, c.String())
	}
	c.text(text)
}

// found judges what find does with the files that it finds.
func (c *call) found() {
	for rest := c.args; len(rest) > 0; {
		begin := slices.IndexFunc(rest, func(w string) bool { return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w) })
		if begin < 0 {
			return
		}
		words := rest[begin+1:]
		rest = nil
		if end := slices.IndexFunc(words, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
			words, rest = words[:end], words[end+1:]
		}
		if len(words) == 0 {
			continue
		}
		words = slices.Clone(words)
		for i := range words {
			if i > 0 && words[i] == "{}" {
				words[i] = c.listed(append([]string{c.name}, c.starts()...))
			}
			words[i] = strings.ReplaceAll(words[i], "{}", string(unknown))
		}
		if programName(words[0]) == "rm" { // of all that is below
			words = slices.Concat([]string{"rm", "-r"}, c.starts(), words[1:])
		}
		c.call(words, input{})
	}
}

// starts are the folders that find searches.
func (c *call) starts() []string {
	var list []string
	for _, arg := range c.args {
		if strings.HasPrefix(arg, "-") && len(list) > 0 || arg == "(" || arg == "!" {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			list = append(list, arg)
		}
	}
	return list
}
