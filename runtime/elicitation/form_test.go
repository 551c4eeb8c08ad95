package elicitation

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

const schema = `{"type":"object","required":["name","age"],"properties":{
	"name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-zé]+$"},
	"age":{"type":"integer","minimum":1,"maximum":9},
	"size":{"type":"number","minimum":0.5,"maximum":1.5},
	"ok":{"type":"boolean"},
	"plain":{"type":"string","enum":["a","b"]},
	"titled":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
	"many":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]}},
	"some":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}},
	"odd":{"type":"string","pattern":"(?<=a)b"},
	"new":{"type":"hologram"}}}`

func TestAFormIsCheckedFieldByField(t *testing.T) {
	t.Parallel()
	var form acp.ElicitationSchema
	if err := form.UnmarshalJSON([]byte(schema)); err != nil {
		t.Fatal(err)
	}
	type (
		text  = acp.ElicitationContentValueString
		whole = acp.ElicitationContentValueInteger
		real  = acp.ElicitationContentValueNumber
		yes   = acp.ElicitationContentValueBoolean
		list  = acp.ElicitationContentValueStringArray
	)
	for _, test := range []struct {
		field string
		value acp.ElicitationContentValue
		why   string
	}{
		{"name", text("éé"), ""}, {"name", text("abcd"), ""}, {"name", text("a"), "shorter than 2"}, {"name", text("abcde"), "longer than 4"},
		{"name", text("AB"), "match"}, {"name", whole(3), "not text"}, {"name", nil, "required"},
		{"age", whole(1), ""}, {"age", whole(9), ""}, {"age", whole(0), "below 1"}, {"age", whole(10), "above 9"}, {"age", real(2), "whole"},
		{"size", real(0.5), ""}, {"size", whole(1), ""}, {"size", real(0.4), "below"}, {"size", real(2), "above"}, {"size", whole(2), "above"},
		{"size", real(math.NaN()), "not a number"}, {"size", real(math.Inf(1)), "not a number"}, {"size", text("1"), "not a number"},
		{"ok", yes(false), ""}, {"ok", text("true"), "neither"},
		{"plain", text("b"), ""}, {"plain", text("c"), "choices"}, {"titled", text("x"), ""}, {"titled", text("X"), "choices"},
		{"many", list{"a", "c"}, ""}, {"many", list{}, "below 1"}, {"many", list{"a", "b", "c"}, "above 2"}, {"many", list{"d"}, "among"},
		{"many", list{"a", "a"}, "twice"}, {"many", text("a"), "not a list"}, {"some", list{"x"}, ""}, {"some", list{"y"}, "among"},
		{"odd", text("anything"), ""}, {"new", text("anything"), ""}, {"new", nil, "no value"}, {"other", text("x"), `no field "other"`},
	} {
		content := Content{"name": text("abc"), "age": whole(5)}
		content[test.field] = test.value
		err := CheckForm(&form, content)
		if test.why == "" && err != nil || test.why != "" && (!errors.Is(err, ErrForm) || !strings.Contains(err.Error(), test.why)) {
			t.Errorf("%s = %v: %v, want %q", test.field, test.value, err, test.why)
		}
	}
	if err := CheckForm(&form, nil); !errors.Is(err, ErrForm) {
		t.Error(err)
	}
	if err := CheckForm(&acp.ElicitationSchema{}, nil); err != nil {
		t.Error(err)
	}
}
