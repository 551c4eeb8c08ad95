//go:build !unix

package testagent

import "os"

var stop = os.Kill // a process cannot be stopped here
