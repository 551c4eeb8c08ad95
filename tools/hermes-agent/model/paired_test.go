package model

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestHalvesOfPairsAreReplaced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                     `{}`,
		`"\ud83d"`:               `"\ufffd"`,
		`"\uD83D\u0041"`:         `"\ufffd\u0041"`,
		`"\ud83d\ude00"`:         `"\ud83d\ude00"`,
		`"\uD83D\uDE00\udE00"`:   `"\uD83D\uDE00\ufffd"`,
		`"\ude00\ud83d"`:         `"\ufffd\ufffd"`,
		`"\ud83d\ud83d\ude00"`:   `"\ufffd\ud83d\ude00"`,
		`"\\ud83d"`:              `"\\ud83d"`,
		`"\\\ud83d"`:             `"\\\ufffd"`,
		`"\ud7ff\ue000"`:         `"\ud7ff\ue000"`,
		`{"a\ud83d":["\udfff"]}`: `{"a\ufffd":["\ufffd"]}`,
	} {
		if got := string(Paired([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
		if HasHalf([]byte(text)) != (text != want) {
			t.Errorf("%s has half of a pair: %t", text, text == want)
		}
	}
}

// Go still decodes the text to the same values, and nothing is left to replace.
func FuzzHalvesOfPairsAreReplaced(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d","b":"\\\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after any
		if json.Unmarshal(text, &before) != nil {
			return
		}
		paired := Paired(text)
		if err := json.Unmarshal(paired, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s became %s: %v", text, paired, err)
		}
		if HasHalf(paired) || !bytes.Equal(Paired(paired), paired) {
			t.Errorf("%s became %s", text, paired)
		}
	})
}
