package elicitation

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

// ErrForm is the error of content that does not match the schema of its form.
var ErrForm = errors.New("form not filled in as asked")

// Content is what the user filled in, by field.
type Content = map[string]acp.ElicitationContentValue

// CheckForm checks the content of a form, field by field: types, bounds, choices
// and patterns, and that nothing required is missing. The agent has to check
// formats, fields of a kind that this version does not know, and patterns that Go
// cannot compile.
func CheckForm(form *acp.ElicitationSchema, content Content) error {
	for _, name := range form.Required {
		if content[name] == nil {
			return fmt.Errorf("%w: %q is required", ErrForm, name)
		}
	}
	for name, value := range content {
		field, ok := form.Properties[name]
		if !ok {
			return fmt.Errorf("%w: there is no field %q", ErrForm, name)
		}
		if why := checkField(field, value); why != "" {
			return fmt.Errorf("%w: %q %s", ErrForm, name, why)
		}
	}
	return nil
}

// checkField says what is wrong with a value, "" if nothing is.
func checkField(field acp.ElicitationPropertySchema, value acp.ElicitationContentValue) string {
	if value == nil {
		return "has no value"
	}
	switch f := field.(type) {
	case *acp.StringPropertySchema:
		if v, ok := value.(acp.ElicitationContentValueString); ok {
			return checkText(f, string(v))
		}
		return "is not text"
	case *acp.NumberPropertySchema:
		switch v := value.(type) {
		case acp.ElicitationContentValueNumber:
			if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
				return "is not a number"
			}
			return checkBounds(float64(v), f.Minimum, f.Maximum)
		case acp.ElicitationContentValueInteger:
			return checkBounds(float64(v), f.Minimum, f.Maximum)
		}
		return "is not a number"
	case *acp.IntegerPropertySchema:
		if v, ok := value.(acp.ElicitationContentValueInteger); ok {
			return checkBounds(int64(v), f.Minimum, f.Maximum)
		}
		return "is not a whole number"
	case *acp.BooleanPropertySchema:
		if _, ok := value.(acp.ElicitationContentValueBoolean); !ok {
			return "is neither true nor false"
		}
	case *acp.MultiSelectPropertySchema:
		if v, ok := value.(acp.ElicitationContentValueStringArray); ok {
			return checkChoices(f, v)
		}
		return "is not a list"
	}
	return ""
}

func checkBounds[T int64 | uint64 | float64](v T, least, most acp.Opt[T]) string {
	if low, ok := least.Get(); ok && v < low {
		return fmt.Sprintf("is below %v", low)
	}
	if high, ok := most.Get(); ok && v > high {
		return fmt.Sprintf("is above %v", high)
	}
	return ""
}

// maxPattern bounds the patterns that are tried, in bytes.
const maxPattern = 4 << 10

func checkText(f *acp.StringPropertySchema, v string) string {
	n := utf8.RuneCountInString(v)
	if low, ok := f.MinLength.Get(); ok && n < int(low) {
		return fmt.Sprintf("is shorter than %d characters", low)
	}
	if high, ok := f.MaxLength.Get(); ok && n > int(high) {
		return fmt.Sprintf("is longer than %d characters", high)
	}
	if f.Enum != nil && !slices.Contains(f.Enum, v) || f.OneOf != nil && !isOption(f.OneOf, v) {
		return "is not among the choices"
	}
	if p, ok := f.Pattern.Get(); ok && len(p) <= maxPattern {
		if re, err := regexp.Compile(p); err == nil && !re.MatchString(v) {
			return "does not match " + p
		}
	}
	return ""
}

func checkChoices(f *acp.MultiSelectPropertySchema, list []string) string {
	if why := checkBounds(uint64(len(list)), f.MinItems, f.MaxItems); why != "" {
		return "has a number of choices that " + why
	}
	for i, v := range list {
		known := true
		switch items := f.Items.(type) {
		case *acp.StringMultiSelectItems:
			known = slices.Contains(items.Enum, v)
		case *acp.TitledMultiSelectItems:
			known = isOption(items.AnyOf, v)
		}
		if !known {
			return "has a value that is not among the choices"
		}
		if slices.Contains(list[:i], v) {
			return "has a choice twice"
		}
	}
	return ""
}

func isOption(options []acp.EnumOption, v string) bool {
	return slices.ContainsFunc(options, func(o acp.EnumOption) bool { return o.Const == v })
}
