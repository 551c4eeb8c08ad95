package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the processor times in /proc.
const tick = 10 * time.Millisecond

// stat returns the fields of /proc/PID/stat behind the name of the program, from the state
// on.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, fields, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	return strings.Fields(fields)
}

// tree is a process and all that descend from it.
func tree(root int) []int {
	children := map[int][]int{}
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if fields := stat(pid); err == nil && len(fields) > 1 {
			if parent, err := strconv.Atoi(fields[1]); err == nil {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	list := []int{root}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}

// spent is the processor time of a tree, also of those of its processes that have ended.
func spent(root int) time.Duration {
	var total time.Duration
	for _, pid := range tree(root) {
		fields := stat(pid)
		if len(fields) < 15 {
			continue
		}
		for _, field := range fields[11:15] { // user and system, its own and of ended children
			if n, err := strconv.Atoi(field); err == nil {
				total += time.Duration(n) * tick
			}
		}
	}
	return total
}

// memory is the proportional set size of a tree in bytes.
func memory(root int) (int, error) {
	total := 0
	for _, pid := range tree(root) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
				if err != nil {
					return 0, err
				}
				total += kilobytes << 10
			}
		}
	}
	if total == 0 {
		return 0, fmt.Errorf("process %d has no memory", root)
	}
	return total, nil
}
