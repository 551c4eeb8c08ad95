package main

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

func init() { modes["calls"] = calls }

// int80 makes a call of 32 bits.
func int80(number, a, b, c, d, e uintptr) int32

// calls makes the calls of its arguments, in the way of 64 or of 32 bits, each in a
// thread of its own, and prints what fails. Each is a number and its arguments: numbers, @ for a folder that is
// open, @NAME for a file, =TEXT for a text, HOW:FLAGS:MODE for a struct open_how.
func calls() {
	// Pointers have 32 bits.
	const low = 0x40 // MAP_32BIT
	memory, err := syscall.Mmap(-1, 0, 1<<16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|low)
	check(err)
	free := 0
	put := func(data []byte) uintptr {
		at := free
		free += copy(memory[free:], data)
		return uintptr(unsafe.Pointer(&memory[at]))
	}
	folder, err := syscall.Open(".", syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	check(err)
	for _, text := range os.Args[3:] {
		var words [6]uintptr
		for i, w := range strings.Fields(text) {
			switch {
			case w == "@":
				words[i] = uintptr(folder)
			case w[0] == '@':
				file, err := syscall.Open(w[1:], syscall.O_RDONLY, 0)
				check(err)
				words[i] = uintptr(file)
			case w[0] == '=':
				words[i] = put(append([]byte(w[1:]), 0))
			case strings.HasPrefix(w, "HOW:"):
				var how [24]byte
				for n, part := range strings.Split(w[4:], ":") {
					binary.LittleEndian.PutUint64(how[n*8:], uint64(number(part)))
				}
				words[i] = put(how[:])
			default:
				words[i] = uintptr(number(w))
			}
		}
		results := make(chan int)
		go func() {
			runtime.LockOSThread()
			if os.Args[2] == "32" {
				results <- int(int80(words[0], words[1], words[2], words[3], words[4], words[5]))
			} else if r, _, errno := syscall.Syscall6(words[0], words[1], words[2], words[3], words[4], words[5], 0); errno != 0 {
				results <- -int(errno)
			} else {
				results <- int(r)
			}
			select {} // the thread stays
		}()
		switch result := <-results; {
		case result < 0:
			println(text + ": " + syscall.Errno(-result).Error())
		case result > 2:
			syscall.Close(result)
		}
	}
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 0, 64)
	check(err)
	return n
}
