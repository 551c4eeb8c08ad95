package store

import "golang.org/x/sys/windows"

// diskFull are the errors of a disk that is full.
var diskFull = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// syncDir does nothing: names are on the disk as soon as they exist.
func syncDir(string) error { return nil }

// renameHoldsFiles: a directory with an open file cannot be renamed.
const renameHoldsFiles = true
