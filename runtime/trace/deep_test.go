package trace

import (
	"bytes"
	"strings"
	"testing"
)

// No connection accepts a message that is nested more than 512 levels deep, but it is
// recorded.
func TestSecretsInMessagesThatAreTooDeepAreHidden(t *testing.T) {
	t.Parallel()
	for name, inner := range map[string]string{
		"by name":   `{"password":"hunter2-is-it"}`,
		"by spaces": `{"api_key" : "hunter2-is-it"}`,
		"by header": `{"Authorization":"Bearer hunter2-is-it"}`,
		"by shape":  `{"text":"curl -u me:hunter2-is-it https://x"}`,
		"env":       `{"env":[{"name":"API_TOKEN","value":"hunter2-is-it"}]}`,
	} {
		for _, levels := range []int{2, 511, 600, 9500} {
			msg := []byte(strings.Repeat(`{"a":`, levels) + inner + strings.Repeat("}", levels))
			if got, changed := Redact(msg); !changed || bytes.Contains(got, []byte("hunter2-is-it")) {
				t.Errorf("%s, %d levels: %s", name, levels, bytes.Trim(got, `{"a:}`))
			}
		}
	}
}
