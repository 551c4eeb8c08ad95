package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash names a blob: the SHA-256 of its bytes. The zero Hash names nothing.
type Hash [sha256.Size]byte

// HashOf returns the name that data has as a blob.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// ParseHash reads what String writes.
func ParseHash(text string) (h Hash, err error) {
	if len(text) != 2*len(h) {
		return h, fmt.Errorf("not a hash: %d characters, want %d", len(text), 2*len(h))
	}
	if _, err := hex.Decode(h[:], []byte(text)); err != nil {
		return Hash{}, fmt.Errorf("not a hash: %w", err)
	}
	return h, nil
}

// String returns the hash as 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether the hash names nothing.
func (h Hash) IsZero() bool { return h == Hash{} }

// AppendText appends what String returns.
func (h Hash) AppendText(dst []byte) ([]byte, error) { return hex.AppendEncode(dst, h[:]), nil }

// MarshalText returns what String returns.
func (h Hash) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalText reads what MarshalText writes.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHash(string(text))
	return err
}
