// Program static changes files without the C library. Tests build it.
package main

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

var atCwd = -100 // AT_FDCWD

var modes = map[string]func(){"threads": threads, "race": race}

func main() {
	if mode := modes[os.Args[1]]; mode != nil {
		mode()
		return
	}
	for _, path := range os.Args[1:] {
		check(os.WriteFile(path, []byte("text"), 0o644))
	}
}

// threads has twenty threads write, append to, rename and remove files of their own.
func threads() {
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			a, b := "a"+strconv.Itoa(i), "b"+strconv.Itoa(i)
			check(os.WriteFile(a, []byte("one\n"), 0o644))
			f, err := os.OpenFile(a, os.O_APPEND|os.O_WRONLY, 0)
			check(err)
			_, err = f.WriteString("two\n")
			check(err)
			check(f.Close())
			check(os.Rename(a, b))
			check(os.Remove(b))
		})
	}
	wg.Wait()
}

// race opens a path many times, both as it is and with the text of the path changing
// meanwhile, and writes to whatever that opens. It goes on for a while if nothing
// opened: on a busy machine the path may not have changed.
func race() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	through, tries := 0, 0
	goOn := func(i, before int) bool {
		tries++
		return i < count || through == before && i < 1000*count
	}
	for i := 0; goOn(i, 0); i++ {
		if f, err := os.OpenFile(os.Args[3], os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, err = f.WriteString("through\n")
			check(err)
			check(f.Close())
			through++
		}
	}
	texts := [][]byte{append([]byte(os.Args[4]), 0, 0), append([]byte(os.Args[5]), 0)}
	path := make([]byte, len(texts[1]))
	done := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				copy(path, texts[i%2])
			}
		}
	})
	before := through
	for i := 0; goOn(i, before); i++ {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(atCwd), uintptr(unsafe.Pointer(&path[0])), syscall.O_WRONLY|syscall.O_APPEND, 0, 0, 0)
		if errno == 0 {
			syscall.Write(int(fd), []byte("through\n"))
			syscall.Close(int(fd))
			through++
		}
	}
	close(done)
	swapping.Wait()
	println(through, "writes of", tries-2)
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
