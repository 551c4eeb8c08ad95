package main

import (
	"runtime"
	"testing"
)

// The size of a client is mostly what the linker cannot leave out: one call can
// bring log/slog, encoding/json and a method of every message.
func TestAMinimalClientIsSmall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the limit is for linux/amd64")
	}
	t.Chdir("..")
	clients, err := weigh("hermes")
	if err != nil {
		t.Fatal(err)
	}
	if c := clients[0]; c.bytes > 3_500_000 || c.modules != 0 {
		t.Errorf("%d bytes, %d further modules", c.bytes, c.modules)
	}
}
