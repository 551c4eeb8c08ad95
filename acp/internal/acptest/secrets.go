package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A secret member gets one of these in place of every text and number in it.
const (
	canary       = "sk-canary-8a1f"
	canaryNumber = json.Number("867530942")
)

// withCanary replaces everything in v that a person could have entered.
func withCanary(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = withCanary(x)
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, withCanary(x))
		}
		return out
	case string:
		return canary
	case json.Number:
		return canaryNumber
	}
	return v
}

func hasCanary(text []byte) bool {
	return bytes.Contains(text, []byte(canary)) || bytes.Contains(text, []byte(canaryNumber))
}

// testSecrets prints values of all definitions. The secret members that the overlay
// lists hold a canary, at any depth.
func (k *kit) testSecrets(t *testing.T) {
	planted := map[string]int{}
	holders := map[string]bool{}
	k.each(t, perDefinition/4, func(g *values) { g.planted = planted }, func(def string, v pair) error {
		text := print(v.in)
		if !hasCanary(text) {
			return nil
		}
		holders[def] = true
		_, _, err := k.Definitions[def](text)
		return err
	})
	for member := range k.secrets {
		def, name, _ := strings.Cut(member, ".")
		n := k.doc.Def(def)
		if n == nil || n.Get("properties").Get(name) == nil {
			continue // of another version
		}
		if planted[member] == 0 || !holders[def] {
			t.Errorf("no value has a secret %s", member)
		}
	}
	t.Logf("%d definitions hold secrets: %v", len(holders), slices.Sorted(maps.Keys(holders)))
}

// discreet prints the values decoded from text in every way that a program can, and
// returns an error if the canary in text shows.
func discreet(text []byte, values ...any) error {
	secret := hasCanary(text)
	for _, v := range values {
		if !secret { // printing must still cope with it
			_ = fmt.Sprint(v)
			continue
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%20v"} {
			if out := fmt.Sprintf(verb, v); hasCanary([]byte(out)) {
				return fmt.Errorf("%s of %T prints its secret: %s", verb, v, out)
			}
		}
		var logged strings.Builder
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "v", v)
		if hasCanary([]byte(logged.String())) {
			return fmt.Errorf("slog prints the secret of %T: %s", v, &logged)
		}
	}
	return nil
}
