//go:build !linux

package files

func writeToFullDisk(string) string { return "" }
