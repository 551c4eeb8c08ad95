// Command shim measures what hermes shim costs: the same work without it, with it,
// and with strace, which stops the same calls. It prints a table, and another one of how soon a
// Neovim that has the project open knows what was changed.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// traced are the calls that strace stops.
const traced = "trace=openat,openat2,creat,truncate,unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat"

// work is something that changes files, and what a run of it may cost.
type work struct {
	name    string
	limit   float64 // times what it takes without a shim
	dir     string
	prepare []string // before each run
	command []string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "write" {
		write(os.Args[2])
		return
	}
	if len(os.Args) == 5 && os.Args[1] == "arrive" {
		arriving(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	log.SetFlags(0)
	rounds := flag.Int("rounds", 5, "how often each work is done each way; the median counts")
	hermes := flag.String("hermes", "hermes", "the program")
	agents := flag.String("agents", os.Getenv("HERMES_AGENTS"), "a folder with packages of npm, for npm ls")
	root := flag.String("plugin", "..", "the plugin for Neovim, which must be built; the program nvim runs it")
	only := flag.String("only", "", "the work with this text in its name")
	flag.Parse()
	base, err := os.MkdirTemp("", "hermes-bench-")
	check(err)
	defer os.RemoveAll(base)
	list := []work{writes(base), checkout(base), build(base)}
	if *agents != "" {
		list = append(list, work{"npm ls --all", 1.2, *agents, nil, []string{"npm", "ls", "--all"}})
	}
	fmt.Println("| | without | `hermes shim` | | `strace --seccomp-bpf` | |\n|---|--:|--:|--:|--:|--:|")
	for _, w := range list {
		if strings.Contains(w.name, *only) {
			measure(w, *rounds, *hermes, base)
		}
	}
	if !strings.Contains("arrive", *only) {
		return
	}
	plugin, err := filepath.Abs(*root)
	check(err)
	fmt.Println("\n| | written in | shown in the buffer | all known |\n|---|--:|--:|--:|")
	for _, count := range []int{1000, 3000} {
		arrive(count, *rounds, *hermes, plugin)
	}
}

func measure(w work, rounds int, hermes, base string) {
	took := make([][]float64, 3)
	ratios := make([][]float64, 3) // to the work without a shim in the same round
	for range rounds {
		// The journals stay until the end: ext4 makes files more slowly for some
		// minutes after it has removed many.
		journal, err := os.MkdirTemp(base, "journal-")
		check(err)
		ways := [][]string{nil,
			{hermes, "shim", "--root", w.dir, "--journal", journal, "--socket", journal + ".none", "--"},
			{"strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", traced, "--"}}
		for i, way := range ways {
			if len(w.prepare) > 0 {
				run(w.dir, w.prepare)
			}
			start := time.Now()
			run(w.dir, append(append([]string{}, way...), w.command...))
			took[i] = append(took[i], float64(time.Since(start).Milliseconds()))
			ratios[i] = append(ratios[i], took[i][len(took[i])-1]/took[0][len(took[0])-1])
		}
	}
	fmt.Printf("| %s, at most %v | %.0f ms | %.0f ms | %.2f | %.0f ms | %.2f |\n", w.name, w.limit, median(took[0]), median(took[1]), median(ratios[1]), median(took[2]), median(ratios[2]))
}

func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

func run(dir string, command []string) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil && command[len(command)-1] != "--all" { // npm ls complains
		log.Fatalf("%v: %v\n%s", command, err, out)
	}
}

func writes(base string) work {
	dir := filepath.Join(base, "writes")
	check(os.MkdirAll(dir, 0o755))
	self, err := os.Executable()
	check(err)
	return work{"20,000 small writes", 2, dir, nil, []string{self, "write", "20000"}}
}

// write writes small files.
func write(count string) {
	n, err := strconv.Atoi(count)
	check(err)
	for i := range n {
		check(os.WriteFile("f"+strconv.Itoa(i%500), []byte("text "+strconv.Itoa(i)+"\n"), 0o644))
	}
}

func checkout(base string) work {
	dir := filepath.Join(base, "checkout")
	git := []string{"git", "-c", "user.name=a", "-c", "user.email=a@example.com"}
	check(os.MkdirAll(dir, 0o755))
	run(dir, append(git, "init", "-q", "-b", "one"))
	for _, branch := range []string{"one", "two"} {
		for i := range 3000 {
			name := filepath.Join(dir, "d"+strconv.Itoa(i%60), "f"+strconv.Itoa(i))
			check(os.MkdirAll(filepath.Dir(name), 0o755))
			check(os.WriteFile(name, []byte(strings.Repeat(branch+" "+strconv.Itoa(i)+"\n", 40)), 0o644))
		}
		if branch == "two" {
			run(dir, append(git, "checkout", "-q", "-b", branch))
		}
		run(dir, append(git, "add", "-A"))
		run(dir, append(git, "commit", "-qm", branch))
	}
	return work{"git checkout of 3,000 files", 6, dir, []string{"git", "checkout", "-q", "one"}, []string{"git", "checkout", "-q", "two"}}
}

func build(base string) work {
	dir := filepath.Join(base, "build")
	check(os.MkdirAll(dir, 0o755))
	check(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o644))
	const program = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n"
	check(os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
	run(dir, []string{"go", "build", "-o", "m"})
	return work{"go build after a change", 1.25, dir, []string{"sh", "-c", "date +'// %N' >> main.go"}, []string{"go", "build", "-o", "m"}}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
