package jx

import (
	"encoding/base64"
	"net/url"
	"time"
	"unicode/utf8"
)

// IsURI reports whether s is an absolute URI.
func IsURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != ""
}

// IsDateTime reports whether s is an RFC 3339 date and time.
func IsDateTime(s string) bool {
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

// IsBase64 reports whether s is standard base64 with padding.
func IsBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// Len is the number of characters of s, as minLength counts them.
func Len(s string) int { return utf8.RuneCountInString(s) }
