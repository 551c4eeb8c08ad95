// Package access decides who may talk to whom over the remote transports: the
// token a server asks for, the hosts and origins it serves, and where a client
// may send its token and cookies.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

const (
	tokenBytes = 32   // of a token made here: 256 bits
	minToken   = 32   // characters of a token made elsewhere
	maxToken   = 1024 // characters
)

// Token is the secret that clients of a server share with it. It prints as
// "[token]"; Reveal returns the text. The zero value is not a token and equals
// nothing.
type Token struct{ text string }

// NewToken makes a random token of 256 bits, 64 hexadecimal digits.
func NewToken() Token {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails
	return Token{hex.EncodeToString(b[:])}
}

// ParseToken checks a token made elsewhere: 32 to 1,024 visible ASCII
// characters. The error does not quote it.
func ParseToken(s string) (Token, error) {
	switch {
	case len(s) < minToken:
		return Token{}, fmt.Errorf("token: %d characters, at least %d are needed (make one with: openssl rand -hex 32)", len(s), minToken)
	case len(s) > maxToken:
		return Token{}, fmt.Errorf("token: longer than %d characters", maxToken)
	case !Visible(s):
		return Token{}, errors.New("token: it may contain only visible ASCII characters")
	}
	return Token{s}, nil
}

// ReadToken reads a token from a file; white space around it does not count.
// A file that others may read or write is refused.
func ReadToken(path string) (Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return Token{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return Token{}, err
	} else if err := private(info); err != nil {
		return Token{}, fmt.Errorf("%s: %w (run: chmod 600 %[1]s)", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxToken+64))
	if err != nil {
		return Token{}, err
	}
	t, err := ParseToken(strings.TrimSpace(string(b)))
	if err != nil {
		return Token{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// IsZero reports whether t is the zero value.
func (t Token) IsZero() bool { return t.text == "" }

// Equal compares in a time that does not depend on the texts.
func (t Token) Equal(s string) bool {
	a, b := sha256.Sum256([]byte(t.text)), sha256.Sum256([]byte(s))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && t.text != ""
}

// Reveal returns the text of the token.
func (t Token) Reveal() string { return t.text }

// String hides the token.
func (t Token) String() string { return "[token]" }

// GoString hides the token.
func (t Token) GoString() string { return "[token]" }

// LogValue hides the token.
func (t Token) LogValue() slog.Value { return slog.StringValue("[token]") }

// Visible reports whether s consists of visible ASCII characters and is not
// empty.
func Visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
