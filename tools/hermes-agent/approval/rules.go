package approval

import (
	"regexp"
	"slices"
	"strings"
)

// rule is a danger of some programs.
type rule struct {
	name, reason string
	action       Action
	programs     string           // separated by spaces; a final * matches any ending
	when         func(*call) bool // nil: always
}

func (r rule) about(program string) bool {
	return slices.ContainsFunc(strings.Fields(r.programs), func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return p == program || open && strings.HasPrefix(program, prefix)
	})
}

// rules is the table of dangers. The first ones are the floor.
var rules = []rule{
	{"wipe-system", "deletes the whole system or the home folder", Deny, "rm shred srm find", (*call).wipesSystem},
	{"own-system", "changes the access to all files of the system", Deny, "chmod chown chgrp setfacl", func(c *call) bool {
		return c.flag("R", "--recursive") && slices.ContainsFunc(c.operands(), c.isSystem)
	}},
	{"move-system", "moves the whole system or the home folder away", Deny, "mv", func(c *call) bool {
		list := c.operands()
		return len(list) > 1 && slices.ContainsFunc(list[:len(list)-1], c.isSystem)
	}},
	{"raw-device", "overwrites a disk", Deny, "mkfs* mke2fs mkswap wipefs blkdiscard shred fdisk sfdisk cfdisk gdisk sgdisk parted dd cp mv tee badblocks cryptsetup pvcreate zpool mkntfs newfs*", (*call).overwritesDevice},
	{"raw-device", "overwrites a disk", Deny, "diskutil", func(c *call) bool {
		return len(c.args) > 0 && strings.Contains(strings.ToLower(c.args[0]), "erase") || c.sub("zeroDisk") || c.sub("partitionDisk")
	}},
	{"shutdown", "stops the machine", Deny, "shutdown reboot halt poweroff", func(c *call) bool { return !c.flag("--help", "--version", "-c") }},
	{"shutdown", "stops the machine", Deny, "init telinit", func(c *call) bool { return c.sub("0") || c.sub("6") }},
	{"shutdown", "stops the machine", Deny, "systemctl loginctl", func(c *call) bool {
		return slices.ContainsFunc(strings.Fields("poweroff reboot halt kexec suspend hibernate soft-reboot emergency rescue"), func(w string) bool { return c.sub(w) })
	}},
	{"kill-all", "ends every process", Deny, "kill", func(c *call) bool {
		return slices.Contains(c.args, "-1") && len(c.args) > 1 && c.args[len(c.args)-1] == "-1" || c.sub("1")
	}},
	{"kill-all", "ends every process", Deny, "killall5", nil},

	{own.name, own.reason, own.action, "*", (*call).touchesOwn},
	{own.name, own.reason, own.action, "hermes-agent", func(c *call) bool {
		list := c.operands()
		return len(list) > 0 && (list[0] == "setup" || list[0] == "config" && len(list) > 1 && list[1] != "check")
	}},
	{"more-allowed", "starts an agent that may do more than this one", Ask, "hermes-agent", func(c *call) bool {
		return slices.ContainsFunc(c.args, func(arg string) bool {
			name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			return strings.HasPrefix(arg, "-") && (name == "allow" || name == "mode")
		})
	}},

	{"recursive-delete", "deletes a folder with everything in it", Ask, "rm srm", func(c *call) bool { return c.flag("r", "R", "--recursive") }},
	{"recursive-delete", "deletes every file that is found", Ask, "find fd fdfind", func(c *call) bool { return slices.Contains(c.args, "-delete") }},
	{"recursive-delete", "deletes a folder with everything in it", Ask, "rimraf trash-empty remove-item ri", nil},
	{"recursive-delete", "deletes a folder with everything in it", Ask, "rd rmdir del erase", func(c *call) bool {
		return c.flag("/s", "/S") || slices.Contains(c.args, "/s") || slices.Contains(c.args, "/S")
	}},
	{"recursive-delete", "deletes what the source does not have", Ask, "rsync", func(c *call) bool {
		return slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--del") || a == "--remove-source-files" })
	}},
	{"delete-outside", "deletes files outside the working folder", Ask, deletesFiles.programs, (*call).deletesOutside},
	{"shred", "destroys data for good", Ask, "shred srm wipefs mkfs* mkswap", nil},

	{"world-writable", "lets everybody change files", Ask, "chmod", (*call).opensToAll},
	{"setuid", "lets others run a program as its owner", Ask, "chmod", func(c *call) bool { return slices.ContainsFunc(c.operands(), setsUser) }},
	{"setuid", "lets others run a program as its owner", Ask, "setcap", nil},
	{"owner", "changes the owner of everything in a folder", Ask, "chown chgrp", func(c *call) bool { return c.flag("R", "--recursive") }},
	{"privilege", "runs as another user", Ask, "sudo doas su pkexec runuser machinectl", nil},
	{"namespace", "leaves or changes the isolation of this machine", Ask, "chroot nsenter unshare", nil},
	{"users", "changes accounts or passwords", Ask, "passwd chpasswd useradd userdel usermod groupadd groupdel adduser deluser visudo vipw chsh dscl", nil},
	{"kernel", "changes the running kernel", Ask, "modprobe insmod rmmod swapoff swapon kexec", nil},
	{"kernel", "changes the running kernel", Ask, "sysctl", func(c *call) bool {
		return c.flag("w", "p", "--write", "--load") || slices.ContainsFunc(c.args, func(a string) bool { return strings.Contains(a, "=") })
	}},
	{"mount", "changes what is mounted", Ask, "umount losetup cryptsetup", nil},
	{"mount", "changes what is mounted", Ask, "mount", func(c *call) bool { return len(c.operands()) > 0 }},
	{"firewall", "changes the firewall", Ask, "iptables ip6tables nft ufw firewall-cmd pfctl", nil},
	{"service", "changes what the machine runs", Ask, "systemctl", func(c *call) bool {
		return slices.ContainsFunc(strings.Fields("stop disable mask kill isolate restart enable edit set-default daemon-reexec"), func(w string) bool { return c.sub(w) })
	}},
	{"service", "changes what the machine runs", Ask, "service rc-service", func(c *call) bool { return len(c.args) > 1 && c.args[1] != "status" }},
	{"service", "changes what the machine runs", Ask, "launchctl", func(c *call) bool { return !c.sub("list") && !c.sub("print") }},
	{"schedule", "runs something later", Ask, "crontab", func(c *call) bool { return !c.flag("l") }},
	{"schedule", "runs something later", Ask, "at batch systemd-run", nil},
	{"kill", "ends processes by name", Ask, "pkill killall skill", nil},
	{"packages", "changes what is installed on the machine", Ask, "apt apt-get aptitude dnf yum zypper pacman apk dpkg rpm snap flatpak port emerge", (*call).changesPackages},
	{"packages", "removes what is installed on the machine", Ask, "brew", func(c *call) bool { return c.sub("uninstall") || c.sub("remove") || c.sub("rm") || c.sub("cleanup") }},

	{"sql", "deletes data of a database", Ask, "psql mysql mariadb sqlite3 sqlite duckdb sqlcmd sqlplus clickhouse-client clickhouse cockroach mycli pgcli usql", (*call).deletesData},
	{"sql", "deletes a database", Ask, "dropdb dropuser mysqladmin", func(c *call) bool { return c.name != "mysqladmin" || slices.Contains(c.operands(), "drop") }},
	{"sql", "deletes data of a database", Ask, "redis-cli valkey-cli", func(c *call) bool { return matches(flush, c.args...) }},
	{"sql", "deletes data of a database", Ask, "mongo mongosh", func(c *call) bool { return matches(dropMongo, append(c.args, c.in.text)...) }},

	{"inline-code", "runs code that deletes files or starts programs", Ask, "python* pypy* perl* ruby* node nodejs deno bun php* lua* tclsh osascript rscript", (*call).dangerousCode},
	{"inline-code", "runs programs from within a text tool", Ask, "awk gawk mawk nawk", func(c *call) bool { return matches(awkRuns, c.args...) }},
	{"inline-code", "runs programs from within an editor", Ask, "vi vim nvim ex ed emacs gdb", func(c *call) bool { return matches(editorRuns, c.args...) }},
	{"inline-code", "runs programs from within an archiver", Ask, "tar bsdtar zip", func(c *call) bool {
		return slices.ContainsFunc(c.args, func(a string) bool {
			return strings.HasPrefix(a, "--checkpoint-action") || strings.HasPrefix(a, "--to-command") || a == "-TT" || strings.HasPrefix(a, "--unzip-command")
		})
	}},
	{"pipe-to-shell", "runs the output of another command", Ask, "python* perl* ruby* node nodejs php* lua* deno bun", func(c *call) bool {
		return c.in.own && strings.ContainsRune(c.in.text, unknown) && (len(c.operands()) == 0 && len(c.args) == 0 || slices.ContainsFunc(c.args, standardInput))
	}},
	{"computed", "what runs is computed by the command itself", Ask, "powershell pwsh", func(c *call) bool {
		return slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(strings.ToLower(a), "-e") })
	}},

	{"git-discard", "discards changes that are in no commit", Ask, "git", (*call).gitDiscards},
	{"git-history", "rewrites or deletes history that others may have", Ask, "git", (*call).gitRewrites},
	{"git-push", "rewrites or deletes history that others have", Ask, "git", (*call).gitForces},
	{"git-config", "makes git run other programs", Ask, "git", (*call).gitConfigures},

	{"upload", "sends files to another machine", Ask, "curl wget", func(c *call) bool {
		return c.flag("T", "F", "--upload-file", "--form", "--post-file", "--body-file") ||
			slices.ContainsFunc(c.args, func(a string) bool {
				return strings.HasPrefix(a, "@") || strings.HasPrefix(a, "-d@") || strings.Contains(a, "=@")
			})
	}},
	{"upload", "copies files to or from another machine", Ask, "scp sftp rclone", nil},
	{"upload", "copies files to or from another machine", Ask, "rsync", func(c *call) bool {
		return slices.ContainsFunc(c.operands(), func(a string) bool { return strings.Contains(a, ":") })
	}},
	{"remote", "runs commands on another machine", Ask, "ssh mosh telnet ansible ansible-playbook", func(c *call) bool { return len(c.operands()) > 0 }},
	{"remote", "connects a program to the network", Ask, "nc ncat netcat socat", func(c *call) bool {
		return c.flag("e", "c", "l", "--exec", "--sh-exec", "--listen") || slices.ContainsFunc(c.args, func(a string) bool { return matches(socatRuns, a) })
	}},
	{"publish", "publishes something", Ask, "npm pnpm yarn cargo gem poetry uv flit", func(c *call) bool { return c.sub("publish") || c.sub("push") || c.sub("unpublish") || c.sub("yank") }},
	{"publish", "publishes something", Ask, "twine docker podman", func(c *call) bool { return c.sub("upload") || c.sub("push") }},
	{"publish", "changes what others see", Ask, "gh glab hub", (*call).changesForge},
	{"container", "gives a container the run of this machine", Ask, "docker podman nerdctl", (*call).opensContainer},
	{"cloud-delete", "deletes containers, images or volumes", Ask, "docker podman nerdctl", (*call).deletesContainers},
	{"cloud-delete", "changes or deletes infrastructure", Ask, "terraform tofu pulumi", func(c *call) bool { return c.sub("destroy") || c.sub("apply") || c.sub("up") }},
	{"cloud-delete", "changes or deletes infrastructure", Ask, "kubectl oc helm", func(c *call) bool {
		return slices.ContainsFunc(strings.Fields("delete drain uninstall replace scale"), func(w string) bool { return slices.Contains(c.operands(), w) })
	}},
	{"cloud-delete", "changes or deletes infrastructure", Ask, "aws gcloud az doctl gsutil heroku fly flyctl vercel", func(c *call) bool { return matches(deletes, c.operands()...) }},
}

// happening are the rules about what a supervisor sees when it happens, and asks about then: files
// outside and those that others run, hosts, programs outside, and what nothing else keeps. The
// sandbox holds a command from the rest of what they are about.
var happening = strings.Fields("recursive-delete delete-outside privilege namespace users kernel mount firewall service schedule kill packages " +
	"inline-code pipe-to-shell computed unreadable environment git-discard git-history git-config upload remote container write-outside system-file protected-file")

var (
	dropSQL     = regexp.MustCompile(`(?is)\b(drop\s+(table|database|schema|view|index|user|role|owned)|truncate(\s+table)?\s+\S|alter\s+table\s+\S+\s+drop)\b`)
	deleteSQL   = regexp.MustCompile(`(?is)\b(delete\s+from|update\s+\S+\s+set)\b[^;]*`)
	whereSQL    = regexp.MustCompile(`(?i)\bwhere\b`)
	flush       = regexp.MustCompile(`(?i)^(flushall|flushdb|shutdown)$`)
	dropMongo   = regexp.MustCompile(`\b(drop|dropDatabase|deleteMany|remove)\s*\(`)
	awkRuns     = regexp.MustCompile(`\bsystem\s*\(|\|\s*(&\s*)?"|"\s*\|\s*getline|@load`)
	editorRuns  = regexp.MustCompile(`(^|[:+|\s"'])(!|r!|system\(|shell-command|call system|shell\b)`)
	socatRuns   = regexp.MustCompile(`(?i)^(exec|system|.*-listen):`)
	deletes     = regexp.MustCompile(`(?i)^(rm|rb|delete|destroy|terminate|purge|remove|del|delete-.*|terminate-.*|.*:destroy|apps:destroy)$`)
	codeDeletes = regexp.MustCompile(`(?i)os\s*\.\s*(system|popen|exec|spawn|remove|unlink|rmdir|removedirs|kill)|subprocess|shutil\s*\.|rmtree|\.unlink\(|\bunlink\b|\brmdir\b|child_process|rmSync|rmdirSync|unlinkSync|fs\s*\.\s*(rm|unlink)|execSync|spawnSync|\bexec\b|\beval\b|\bsystem\b|\bqx\b|__import__|getattr\s*\(|b64decode|fileutils|file\.delete|shell_exec|passthru|proc_open|os\.execute|io\.popen|do shell script|Deno\.(remove|run|Command)|pty\.spawn|socket\.|` + "`")
)

func matches(pattern *regexp.Regexp, texts ...string) bool {
	return slices.ContainsFunc(texts, pattern.MatchString)
}

// deletesData looks at the statements that a database gets: as arguments, from a
// pipe or from a heredoc.
func (c *call) deletesData() bool {
	return slices.ContainsFunc(append(slices.Clone(c.args), c.in.text), func(text string) bool {
		return dropSQL.MatchString(text) || slices.ContainsFunc(deleteSQL.FindAllString(text, -1), func(statement string) bool { return !whereSQL.MatchString(statement) })
	})
}

// dangerousCode looks at code that is an argument or that the interpreter reads.
func (c *call) dangerousCode() bool {
	code := []string{c.in.text}
	for i, arg := range c.args {
		if len(arg) > 1 && arg[0] == '-' && strings.ContainsAny(arg[1:min(len(arg), 6)], "cerEp") && i+1 < len(c.args) {
			code = append(code, c.args[i+1])
		}
		if strings.HasPrefix(arg, "-c") || strings.HasPrefix(arg, "-e") || arg == "eval" && i+1 < len(c.args) {
			code = append(code, arg[2:], c.args[min(i+1, len(c.args)-1)])
		}
	}
	return matches(codeDeletes, code...)
}

func (c *call) changesPackages() bool {
	words := "install remove purge autoremove upgrade dist-upgrade full-upgrade erase delete del add unmerge reinstall downgrade refresh uninstall"
	return slices.ContainsFunc(c.operands(), func(w string) bool { return slices.Contains(strings.Fields(words), w) }) ||
		slices.Contains([]string{"dpkg", "rpm", "pacman"}, c.name) && c.flag("i", "r", "P", "e", "U", "S", "R", "--install", "--remove", "--purge", "--erase") && !c.flag("q", "Q", "--query")
}

func (c *call) changesForge() bool {
	list := c.operands()
	return len(list) > 1 && matches(forge, list[1]) || c.sub("api") && (c.flag("X", "f", "F", "--method", "--field") && !slices.Contains(c.args, "GET"))
}

var forge = regexp.MustCompile(`^(create|delete|merge|close|edit|comment|review|archive|rename|transfer|upload|set|remove|sync|fork|reopen|ready|lock|add)$`)

func (c *call) opensContainer() bool {
	return slices.ContainsFunc(c.args, func(a string) bool {
		return strings.HasPrefix(a, "--privileged") || strings.HasPrefix(a, "/:") || strings.Contains(a, "=/:") || strings.Contains(a, "docker.sock") ||
			a == "--pid=host" || a == "--cap-add=ALL" || strings.Contains(a, "src=/,") || strings.Contains(a, "source=/,")
	})
}

func (c *call) deletesContainers() bool {
	list := c.operands()
	return slices.Contains(list, "prune") || len(list) > 1 && (list[1] == "rm" || list[1] == "remove") || len(list) > 0 && (list[0] == "rm" || list[0] == "rmi") ||
		slices.Contains(list, "down") && c.flag("v", "--volumes")
}
