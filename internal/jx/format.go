package jx

import (
	"encoding/base64"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// IsURI reports whether s is an absolute URI.
func IsURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != ""
}

// IsDateTime reports whether s is a date and time of RFC 3339, section 5.6. It
// differs from time.Parse: letters may be lower case and leap seconds are valid,
// but a comma, an hour of one digit and an offset beyond 23:59 are not.
func IsDateTime(s string) bool {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[10] != 'T' && s[10] != 't' || s[13] != ':' || s[16] != ':' {
		return false
	}
	if _, err := time.Parse(time.DateOnly, s[:10]); err != nil {
		return false
	}
	hour, min, sec := twoDigits(s[11:13], 23), twoDigits(s[14:16], 59), twoDigits(s[17:19], 60)
	offset := s[19:]
	if offset[0] == '.' {
		fraction := len(offset[1:]) - len(strings.TrimLeft(offset[1:], "0123456789"))
		if fraction == 0 {
			return false
		}
		offset = offset[1+fraction:]
	}
	var ahead int // of UTC, in minutes
	switch {
	case offset == "Z" || offset == "z":
	case len(offset) == len("+00:00") && (offset[0] == '+' || offset[0] == '-') && offset[3] == ':':
		h, m := twoDigits(offset[1:3], 23), twoDigits(offset[4:], 59)
		if h < 0 || m < 0 {
			return false
		}
		if ahead = h*60 + m; offset[0] == '-' {
			ahead = -ahead
		}
	default:
		return false
	}
	if sec == 60 { // a leap second is the last second of a day in UTC
		const day = 24 * 60
		return hour >= 0 && min >= 0 && (hour*60+min-ahead+day)%day == day-1
	}
	return hour >= 0 && min >= 0 && sec >= 0
}

// twoDigits is the number of two digits, -1 if they are not digits or the number
// is above most.
func twoDigits(s string, most int) int {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return -1
	}
	if n := int(s[0]-'0')*10 + int(s[1]-'0'); n <= most {
		return n
	}
	return -1
}

// IsBase64 reports whether s is standard base64 with padding.
func IsBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// Len is the number of characters of s, as minLength counts them.
func Len(s string) int { return utf8.RuneCountInString(s) }
