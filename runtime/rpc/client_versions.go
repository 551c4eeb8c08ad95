package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// ClientVersion is one version of the protocol that a client speaks.
type ClientVersion struct {
	Protocol acp.Protocol
	// Params are the params of initialize in the version's own type. Their
	// protocolVersion is set by Initialize.
	Params acp.Appender
	// Handler gets the agent's messages once this version is agreed on.
	Handler acp.Handler
}

// ClientVersions is the handler of a client that speaks several versions of the
// protocol. Initialize settles the version before any message behind its answer
// is handled; until then the agent's requests are refused. It belongs to one
// connection, and may be wrapped by another handler.
type ClientVersions struct {
	versions []*ClientVersion // newest first
	agreed   atomic.Pointer[ClientVersion]
}

// NewClientVersions returns the handler for these versions, in any order. It
// panics when there are none, or two of the same number.
func NewClientVersions(versions ...ClientVersion) *ClientVersions {
	versions = slices.Clone(versions)
	v := &ClientVersions{versions: make([]*ClientVersion, len(versions))}
	for i := range versions {
		v.versions[i] = &versions[i]
	}
	sortVersions(v.versions, func(v *ClientVersion) int { return v.Protocol.Version() })
	return v
}

// sortVersions puts the newest first.
func sortVersions[T any](versions []T, number func(T) int) {
	if len(versions) == 0 {
		panic("rpc: no protocol version given")
	}
	slices.SortFunc(versions, func(a, b T) int { return cmp.Compare(number(b), number(a)) })
	for i, v := range versions[1:] {
		if number(v) == number(versions[i]) {
			panic(fmt.Sprintf("rpc: protocol version %d is given twice", number(v)))
		}
	}
}

// VersionError says that client and agent speak no common version. The client
// should close the connection.
type VersionError struct {
	Offered []int // what the client speaks
	Agent   []int // what the agent speaks; empty when it did not say
	Err     error // the agent's answer, when it was an error
}

func (e *VersionError) Error() string {
	text := "no common protocol version: this client speaks " + numbers(e.Offered)
	if len(e.Agent) > 0 {
		text += ", the agent " + numbers(e.Agent)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *VersionError) Unwrap() error { return e.Err }

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " and ")
}

// Initialize sends initialize over conn, names the newest of the versions, and
// returns the one that both sides speak with the agent's answer, which is an
// *InitializeResponse of the version's package. The params hold the members of
// all versions, so that an agent that knows only an old one finds its own. (The
// router of the TypeScript SDK, when it has version 1 only, takes just the
// members of version 2 and so sees fewer capabilities than there are.)
//
// The agent answers with the version to speak; an agent of version 2 may
// instead refuse with the versions it has, and the best of those is tried. When
// there is none the error is a *VersionError.
//
// See https://agentclientprotocol.com/protocol/initialization#version-negotiation.
func (v *ClientVersions) Initialize(ctx context.Context, conn acp.Caller) (acp.Protocol, acp.Appender, error) {
	offers := v.versions
	for {
		var result acp.Raw
		err := conn.Call(ctx, acp.MethodInitialize, &offered{offer(offers), v}, &result)
		if err == nil {
			return v.answered(json.RawMessage(result))
		}
		var refused *acp.Error
		if !errors.As(err, &refused) || refused.Code != acp.ErrorCodeUnsupportedProtocolVersion {
			return nil, nil, err
		}
		theirs := supported(refused)
		rest := slices.DeleteFunc(slices.Clone(offers), func(o *ClientVersion) bool {
			return !slices.Contains(theirs, o.Protocol.Version())
		})
		if len(rest) == 0 || len(rest) == len(offers) {
			return nil, nil, &VersionError{Offered: v.numbers(), Agent: theirs, Err: err}
		}
		offers = rest
	}
}

// answered settles what a result of initialize says.
func (v *ClientVersions) answered(result json.RawMessage) (acp.Protocol, acp.Appender, error) {
	version := v.agree(result)
	if version == nil {
		if n, ok := protocolVersion(result); ok {
			return nil, nil, &VersionError{Offered: v.numbers(), Agent: []int{n}}
		}
		return nil, nil, &ResultError{Method: acp.MethodInitialize, Err: errors.New("protocolVersion is missing, or no number from 0 to 65535")}
	}
	answer, err := version.Protocol.DecodeResult(acp.SideAgent, acp.MethodInitialize, result)
	if err != nil {
		return nil, nil, &ResultError{Method: acp.MethodInitialize, Err: err}
	}
	return version.Protocol, answer, nil
}

// agree finds the version that a result of initialize names and makes it the
// agreed one; nil when it is none of ours.
func (v *ClientVersions) agree(result json.RawMessage) *ClientVersion {
	n, ok := protocolVersion(result)
	i := slices.IndexFunc(v.versions, func(o *ClientVersion) bool { return ok && o.Protocol.Version() == n })
	if i < 0 {
		return nil
	}
	v.agreed.Store(v.versions[i])
	return v.versions[i]
}

func (v *ClientVersions) numbers() []int {
	list := make([]int, len(v.versions))
	for i, o := range v.versions {
		list[i] = o.Protocol.Version()
	}
	return list
}

// Agreed returns the version both sides speak, nil before there is one.
func (v *ClientVersions) Agreed() acp.Protocol {
	if a := v.agreed.Load(); a != nil {
		return a.Protocol
	}
	return nil
}

// Side implements acp.Handler.
func (v *ClientVersions) Side() acp.Side { return acp.SideClient }

// HandleRequest implements acp.Handler.
func (v *ClientVersions) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	a := v.agreed.Load()
	if a == nil {
		return nil, uninitialized(method)
	}
	return a.Handler.HandleRequest(ctx, method, params)
}

// HandleNotification implements acp.Handler.
func (v *ClientVersions) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	a := v.agreed.Load()
	if a == nil {
		return uninitialized(method)
	}
	return a.Handler.HandleNotification(ctx, method, params)
}

func uninitialized(method string) error {
	return &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "invalid request: " + method + ": " + errNotInitialized.Error()}
}

// offered are the params of an initialize. The connection gives them the result.
type offered struct {
	acp.Appender
	versions *ClientVersions
}

func (o *offered) answered(result json.RawMessage) { o.versions.agree(result) }

// offer returns params that hold the members of all versions. If several have a
// member, such as _meta, the newest version's is used.
func offer(versions []*ClientVersion) acp.Appender {
	params := acp.Extra(`{}`)
	set(&params, "protocolVersion", fmt.Append(nil, versions[0].Protocol.Version()))
	for _, v := range versions {
		for name, value := range acp.Extra(v.Params.AppendJSON(nil)).All() {
			if _, has := params.Get(name); !has {
				set(&params, name, value)
			}
		}
	}
	return acp.Raw(params)
}

// set sets a member to a value that is known to be JSON.
func set(params *acp.Extra, name string, value []byte) {
	if err := params.Set(name, value); err != nil {
		panic("rpc: initialize: " + err.Error())
	}
}

// supported returns the versions that the refusal of one names, newest first.
func supported(refused *acp.Error) []int {
	raw, _ := acp.Extra(refused.Data).Get("supported")
	d := jx.New(raw)
	var list []int
	if d.Array() {
		for d.More(']') {
			list = append(list, int(d.Int(math.MinInt32, math.MaxInt32)))
		}
	}
	if d.Failed() {
		return nil
	}
	slices.Sort(list)
	slices.Reverse(list)
	return slices.Compact(list)
}
