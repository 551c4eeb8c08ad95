package acp

//go:generate go run ../tools/acpgen
