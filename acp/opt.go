package acp

// Opt is an optional member for which an absent member and null mean the same.
// The zero value is absent.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some returns a present Opt holding v.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Get returns the value and whether it is present.
func (o Opt[T]) Get() (T, bool) { return o.V, o.OK }

// Or returns the value, or def when absent.
func (o Opt[T]) Or(def T) T {
	if o.OK {
		return o.V
	}
	return def
}

// IsZero reports whether the member is absent.
func (o Opt[T]) IsZero() bool { return !o.OK }

// Patch is a member with three states: absent leaves what the receiver has,
// null clears it, a value replaces it. The zero value is absent.
type Patch[T any] struct {
	V     T
	State PatchState
}

// PatchState says what a Patch asks for.
type PatchState uint8

// The states of a Patch.
const (
	PatchAbsent PatchState = iota
	PatchNull
	PatchValue
)

// Set returns a Patch that replaces the member by v.
func Set[T any](v T) Patch[T] { return Patch[T]{V: v, State: PatchValue} }

// Clear returns a Patch that clears the member.
func Clear[T any]() Patch[T] { return Patch[T]{State: PatchNull} }

// Get returns the value and whether there is one; State tells null from absent.
func (p Patch[T]) Get() (T, bool) { return p.V, p.State == PatchValue }

// IsZero reports whether the member is absent.
func (p Patch[T]) IsZero() bool { return p.State == PatchAbsent }

// Apply carries the patch out on dst; clearing stores zero.
func (p Patch[T]) Apply(dst *T, zero T) {
	switch p.State {
	case PatchNull:
		*dst = zero
	case PatchValue:
		*dst = p.V
	}
}
