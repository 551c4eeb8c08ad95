package process

import (
	"os"
	"os/exec"
)

// Pipes are our ends of the standard streams of a program. Package exec would close its
// own under their readers as soon as the program exits.
type Pipes struct {
	Stdin, Stdout, Stderr *os.File
}

// Piped gives x its ends of new pipes and calls start with ours. start starts x. If it
// fails, all ends are closed.
func Piped(x *exec.Cmd, start func(Pipes) error) (err error) {
	var ours, theirs [3]*os.File
	defer func() {
		for i := range ours {
			theirs[i].Close()
			if err != nil {
				ours[i].Close()
			}
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	x.Stdin, x.Stdout, x.Stderr = theirs[0], theirs[1], theirs[2]
	return start(Pipes{ours[0], ours[1], ours[2]})
}
