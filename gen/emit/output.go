package emit

// Output is one generated file.
type Output struct {
	Path string // slash-separated, from the root of the repository
	Data []byte
}
