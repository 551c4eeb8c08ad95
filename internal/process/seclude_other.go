//go:build !linux

package process

// Seclude does nothing here.
func Seclude() {}
