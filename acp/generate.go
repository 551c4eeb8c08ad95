package acp

// One run makes all packages below acp, and everything for Neovim that comes
// from the schemas.
//
//go:generate go run ../tools/acpgen
