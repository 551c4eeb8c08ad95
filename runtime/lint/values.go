package lint

// isAbsolute reports whether a path is absolute on Unix or on Windows.
func isAbsolute(path []byte) bool {
	switch {
	case len(path) > 0 && path[0] == '/':
		return true
	case len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/'):
		return path[0] >= 'a' && path[0] <= 'z' || path[0] >= 'A' && path[0] <= 'Z'
	}
	return len(path) > 1 && path[0] == '\\' && path[1] == '\\'
}
