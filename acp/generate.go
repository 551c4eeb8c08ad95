package acp

// One run writes all packages below acp, and everything for Neovim that comes from
// the schemas.
//
//go:generate go run ../tools/acpgen
