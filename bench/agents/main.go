// Command agents measures agents side by side, in turns, each with the same scripted model
// over HTTP and a home of its own, and prints a table.
//
//	agents -rounds 15 -hermes bin/hermes-agent -pi FOLDER -opencode FOLDER
//
// The folders are those in which npm has installed pi-acp and
// @earendil-works/pi-coding-agent, and opencode-ai. An agent that is not named is left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// contender is an agent to measure.
type contender struct {
	name    string
	command []string
	files   []string // what is installed for it
	needs   []string // programs besides, which others use, too
	// prepare writes settings into a home so that the agent talks to a model, and returns
	// further variables.
	prepare func(home, model string) ([]string, error)
	runs    []sample
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("agents: ")
	rounds := flag.Int("rounds", 15, "starts of each agent")
	hermes := flag.String("hermes", "", "the `program` hermes-agent")
	pi := flag.String("pi", "", "the `folder` of pi and pi-acp")
	opencode := flag.String("opencode", "", "the `folder` of opencode")
	flag.Parse()
	var list []*contender
	if *hermes != "" {
		list = append(list, hermesAgent(*hermes))
	}
	if *pi != "" {
		list = append(list, piAgent(*pi))
	}
	if *opencode != "" {
		list = append(list, openCode(*opencode))
	}
	for round := range *rounds {
		for _, c := range list {
			s, err := c.run(context.Background())
			if err != nil {
				log.Fatalf("%s, round %d: %v", c.name, round, err)
			}
			c.runs = append(c.runs, s)
		}
	}
	fmt.Printf("%s, %d CPUs; %d starts of each, in turns.\n\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), *rounds)
	fmt.Print("| | `initialize` | `session/new` | processor time | memory, idle | after a turn | system prompt | schemas of tools | on disk |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range list {
		row, err := c.row()
		if err != nil {
			log.Fatalf("%s: %v", c.name, err)
		}
		fmt.Println(row)
	}
}

// row has the fastest times, which other programs disturb the least, and the median of
// everything else.
func (c *contender) row() (string, error) {
	least := func(of func(sample) time.Duration) string {
		list := each(c.runs, of)
		return fmt.Sprintf("%d ms", slices.Min(list).Milliseconds())
	}
	median := func(of func(sample) int) int {
		list := each(c.runs, of)
		slices.Sort(list)
		return list[len(list)/2]
	}
	disk, err := weigh(c.files...)
	if err != nil {
		return "", err
	}
	size := fmt.Sprintf("%.0f MB", float64(disk)/1e6)
	for _, name := range c.needs {
		more, err := weigh(name)
		if err != nil {
			return "", err
		}
		size += fmt.Sprintf(" and %s, %.0f MB", filepath.Base(name), float64(more)/1e6)
	}
	memory := func(bytes int) string { return fmt.Sprintf("%d MiB", (bytes+1<<19)>>20) }
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %d B | %d B | %s |", c.name,
		least(func(s sample) time.Duration { return s.initialize }), least(func(s sample) time.Duration { return s.session }), least(func(s sample) time.Duration { return s.cpu }),
		memory(median(func(s sample) int { return s.idle })), memory(median(func(s sample) int { return s.after })),
		median(func(s sample) int { return s.prompt }), median(func(s sample) int { return s.tools }), size), nil
}

func each[T any](runs []sample, of func(sample) T) []T {
	var list []T
	for _, s := range runs {
		list = append(list, of(s))
	}
	return list
}

// weigh adds up the files of folders, those with two names once.
func weigh(paths ...string) (int64, error) {
	var total int64
	var seen []os.FileInfo
	for _, path := range paths {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			return 0, err
		}
		err = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			if info.Size() > 1<<20 { // smaller ones do not matter
				if slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
					return nil
				}
				seen = append(seen, info)
			}
			total += info.Size()
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
