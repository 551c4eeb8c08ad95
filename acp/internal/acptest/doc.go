// Package acptest tests generated packages, because the same must be true of every
// version of the protocol. Each package passes its definitions and its Protocol
// value. The expectations come from the schema, not from the generator.
package acptest

import (
	"encoding/json"
	"testing"

	"github.com/hermes-nvim/hermes/schema"
)

// Package is a generated package.
type Package struct {
	Edition     string // name of its schema
	Protocol    Protocol
	Definitions map[string]Codec
	Check       func(any) []Violation
}

// Codec decodes a value of a definition and encodes it again. It also returns the
// value, for Check.
type Codec = func([]byte) (out []byte, v any, err error)

// Checker is acp.Check.
func Checker[V ~struct{ Pointer, Rule, Message string }](check func(any) []V) func(any) []Violation {
	return func(v any) (found []Violation) {
		for _, x := range check(v) {
			found = append(found, Violation(x))
		}
		return found
	}
}

// Violation is acp.Violation.
type Violation struct{ Pointer, Rule, Message string }

// Of is the codec of a type with codec methods. It also prints the value, because
// printing must cope with everything that decodes.
func Of[T any, P interface {
	*T
	json.Unmarshaler
	AppendJSON([]byte) []byte
}]() Codec {
	return func(b []byte) ([]byte, any, error) {
		var v T
		if err := P(&v).UnmarshalJSON(b); err != nil {
			return nil, nil, err
		}
		if err := discreet(b, v, &v, []T{v}, []*T{&v}, map[string]T{"k": v}, struct{ Member T }{v}); err != nil {
			return nil, nil, err
		}
		return P(&v).AppendJSON(nil), &v, nil
	}
}

// OfUnion is the codec of a sealed interface; member makes it one of a struct.
func OfUnion[T any](decode func([]byte) (T, error), encode func([]byte, T) []byte, member func(T) any) Codec {
	return func(b []byte) ([]byte, any, error) {
		v, err := decode(b)
		if err != nil {
			return nil, nil, err
		}
		if err := discreet(b, v, []T{v}, map[string]T{"k": v}, struct{ Member T }{v}); err != nil {
			return nil, nil, err
		}
		return encode(nil, v), member(v), nil
	}
}

// Protocol is acp.Protocol, which this package cannot import: package acp is
// one of those it tests.
type Protocol struct {
	Methods []Method
	Decode  func(m Method, kind Kind, text json.RawMessage) (Message, error)
}

// Message is a message of a method.
type Message interface{ AppendJSON([]byte) []byte }

// Method is a row of a method table.
type Method struct {
	Name                           string
	Side                           uint8
	Request, Notification, Session bool
}

// Kind says which part of a method a message is.
type Kind uint8

// The kinds of messages.
const (
	Request Kind = iota
	Notification
	Result
	kinds
)

func newKit(t testing.TB, p Package) *kit {
	e := schema.Edition(p.Edition)
	doc, err := schema.Load(e)
	if err != nil {
		t.Fatal(err)
	}
	return &kit{Package: p, edition: e, doc: doc}
}

// Run tests a package.
func Run(t *testing.T, p Package) {
	k := newKit(t, p)
	k.readOverlay(t)
	t.Run("EveryDefinitionHasACodec", k.testComplete)
	t.Run("ValidValuesSurvive", k.testRoundTrip)
	t.Run("BadOptionalValuesBecomeTheDefault", k.testLenient)
	t.Run("StrictMembersAreNotRepaired", k.testStrict)
	t.Run("OneLeafChangesOneThing", k.testOneLeaf)
	t.Run("NewerWordsAreKeptOrRefused", k.testNewer)
	t.Run("RequiredMembersAreRequired", k.testRequired)
	t.Run("NothingPrintsSecrets", k.testSecrets)
	t.Run("MessagesDecodeThroughTheProtocol", k.testProtocol)
	t.Run("WhatIsBuiltIsSentWholeOrNotAtAll", k.testBuilt)
	t.Run("MistakesAreFoundInTheSamePlace", k.testPlaces)
	t.Run("MutantsAgreeWithTheValidator", k.testAgreement)
}
