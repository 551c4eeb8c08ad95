package v2

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// A state update has three tags in one object; none of them is an extra member.
func TestTagsOfNestedUnionsAreNotExtraMembers(t *testing.T) {
	t.Parallel()
	text := `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":1,"message":"m"},"new":true}}`
	var v UpdateSessionNotification
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	idle, ok := v.Update.(*IdleStateUpdate)
	if !ok {
		t.Fatalf("update is %T", v.Update)
	}
	stop, ok := idle.Variant.(*ErrorStopReason)
	if !ok {
		t.Fatalf("stop reason is %T", idle.Variant)
	}
	if stop.Extra.String() != `{"new":true}` || stop.Error.Message != "m" {
		t.Errorf("decoded %+v, extra %s", stop, stop.Extra)
	}
	if got := string(v.AppendJSON(nil)); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
}

// A tag that is unknown at any depth keeps the rest of the object.
func TestUnknownTagsAreKeptAtEveryDepth(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"sessionId":"s","update":{"sessionUpdate":"_new","a":1}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"_new","a":1}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"_new","a":1}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","a":1}}`,
	} {
		var v UpdateSessionNotification
		if err := v.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(v.AppendJSON(nil)); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
}

// The open branch declares members: they are read, and they are required.
func TestUnknownVariantsHaveTheirDeclaredMembers(t *testing.T) {
	t.Parallel()
	v, err := DecodeAuthMethod([]byte(`{"type":"_sso","methodId":"m","name":"SSO","realm":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	other, ok := v.(*AuthMethodOther)
	if !ok || other.Tag != "_sso" || other.MethodID != "m" || other.Name != "SSO" || other.Raw.String() != `{"realm":"x"}` {
		t.Errorf("decoded %+v", v)
	}
	if _, err := DecodeAuthMethod([]byte(`{"type":"_sso","methodId":"m"}`)); err == nil || err.Error() != `missing required member "name"` {
		t.Errorf("error %v", err)
	}
}

// A known tag with a payload that does not fit is an error, not an unknown variant.
func TestKnownTagsWithBadPayloadsFail(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"text"}`:                           `missing required member "text"`,
		`{"type":"text","text":[]}`:                 `/text: want string, got array`,
		`{"type":"resource","resource":{}}`:         `/resource: no variant of EmbeddedResourceResource fits: want a member text and uri, or blob and uri`,
		`{"type":"resource","resource":{"uri":""}}`: `/resource: no variant of EmbeddedResourceResource fits: want a member text and uri, or blob and uri`,
	} {
		if _, err := DecodeContentBlock([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v\nwant %s", text, err, want)
		}
	}
}

func TestTypeSelectedUnionsLookAtTheValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ElicitationContentValue{
		`"x"`: ElicitationContentValueString("x"), `7`: ElicitationContentValueInteger(7), `7.5`: ElicitationContentValueNumber(7.5), `true`: ElicitationContentValueBoolean(true),
	} {
		v, err := DecodeElicitationContentValue([]byte(text))
		if err != nil || v != want {
			t.Errorf("%s reads as %#v, %v", text, v, err)
		}
	}
	for text, want := range map[string]string{`["a"]`: "ElicitationContentValueStringArray", `[1]`: "ElicitationContentValueOther", `null`: "ElicitationContentValueOther"} {
		v, err := DecodeElicitationContentValue([]byte(text))
		if got := string(AppendElicitationContentValue(nil, v)); err != nil || got != text {
			t.Errorf("%s (%s) is written as %s, %v", text, want, got, err)
		}
	}
	if _, err := DecodeSessionConfigSelectOptions([]byte(`[{"x":1}]`)); err == nil {
		t.Error("options that are neither options nor groups decode")
	}
}

// Decoding applies limits to members where a bad value becomes the default.
func TestBadOptionalValuesAreDroppedByLimit(t *testing.T) {
	t.Parallel()
	var a Annotations
	if err := a.UnmarshalJSON([]byte(`{"priority":1.5}`)); err != nil || a.Priority.OK {
		t.Errorf("priority %v, %v", a.Priority, err)
	}
	var s SessionInfo
	if err := s.UnmarshalJSON([]byte(`{"sessionId":"s","cwd":"/w","updatedAt":"yesterday"}`)); err != nil || s.UpdatedAt.OK {
		t.Errorf("updatedAt %v, %v", s.UpdatedAt, err)
	}
	var size TerminalSize
	if err := size.UnmarshalJSON([]byte(`{"cols":0,"rows":1}`)); err != nil || len(acp.Check(&size)) != 1 {
		t.Errorf("%v, %v", err, acp.Check(&size))
	}
}

func TestBase64StaysTextUntilAsked(t *testing.T) {
	t.Parallel()
	image := NewImageContent("aGk=", "image/png")
	if b, err := image.Bytes(); err != nil || string(b) != "hi" {
		t.Errorf("%q, %v", b, err)
	}
	image.Data = "?"
	if _, err := image.Bytes(); err == nil {
		t.Error("text that is not base64 decodes")
	}
	if found := acp.Check(image); len(found) != 1 || found[0].Rule != "contentEncoding" {
		t.Errorf("Check: %v", found)
	}
}

// An elicitation belongs to a session or to a request; one with both is invalid.
func TestVariantsThatExcludeEachOtherAreNotMixed(t *testing.T) {
	t.Parallel()
	var v ElicitationURLMode
	err := v.UnmarshalJSON([]byte(`{"elicitationId":"e","url":"https://a","sessionId":"s","requestId":1}`))
	if want := "no variant of ElicitationURLModeVariant fits: want either a member sessionId, or requestId"; err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
}

// An error of an object remains, even if the member after it may be repaired.
func TestDuplicateMembersAreNotRepaired(t *testing.T) {
	t.Parallel()
	var v ToolCallUpdate
	if err := v.UnmarshalJSON([]byte(`{"toolCallId":"c","_meta":{},"_meta":{}}`)); err == nil || err.Error() != "/_meta: duplicate member" {
		t.Errorf("error %v", err)
	}
}

func TestCheckFindsIDsAndListsThatMustNotBeEmpty(t *testing.T) {
	t.Parallel()
	var cancel CancelRequestNotification
	if found := acp.Check(&cancel); len(found) != 1 || found[0].Pointer != "/requestId" || found[0].Rule != "type" {
		t.Errorf("no id: %v", found)
	}
	if found := acp.Check(&SessionConfigSelect{Options: SessionConfigSelectOptionsUngrouped{}}); len(found) != 1 || found[0].Rule != "minItems" {
		t.Errorf("no options: %v", found)
	}
}
