//go:build !linux && !darwin && !freebsd

package socket

import (
	"errors"
	"net"
)

func peerUID(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
