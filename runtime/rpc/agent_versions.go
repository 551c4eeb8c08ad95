package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
)

// AgentVersion is one version of the protocol that an agent speaks.
type AgentVersion struct {
	Protocol acp.Protocol
	Handler  acp.Handler // usually AgentSide of the version's package
}

// AgentVersions is the handler of an agent that speaks several versions of the
// protocol. It answers initialize through the handler of the version it
// chooses, and passes everything after that to the same handler. It belongs to
// one connection.
//
// An agent that speaks only version 1 chooses that, whatever the client asks
// for. Others choose the highest version that is not above the client's, or
// answer -32022 with the list of those they have. Params of a client that is
// newer than the chosen version are reduced to what the version knows.
//
// See https://agentclientprotocol.com/protocol/initialization#version-negotiation.
type AgentVersions struct {
	versions []AgentVersion // newest first
	choosing sync.Mutex     // held while initialize runs
	agreed   atomic.Pointer[AgentVersion]
}

// NewAgentVersions returns the handler for these versions, in any order. It
// panics when there are none, or two of the same number.
func NewAgentVersions(versions ...AgentVersion) *AgentVersions {
	a := &AgentVersions{versions: slices.Clone(versions)}
	sortVersions(a.versions, func(v AgentVersion) int { return v.Protocol.Version() })
	return a
}

// Agreed returns the version both sides speak, nil before there is one.
func (a *AgentVersions) Agreed() acp.Protocol {
	if v := a.agreed.Load(); v != nil {
		return v.Protocol
	}
	return nil
}

// Side implements acp.Handler.
func (a *AgentVersions) Side() acp.Side { return acp.SideAgent }

// HandleRequest implements acp.Handler.
func (a *AgentVersions) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if method == acp.MethodInitialize {
		return a.initialize(ctx, params)
	}
	v := a.agreed.Load()
	if v == nil {
		return nil, uninitialized(method)
	}
	return v.Handler.HandleRequest(ctx, method, params)
}

// HandleNotification implements acp.Handler.
func (a *AgentVersions) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	v := a.agreed.Load()
	if v == nil {
		return uninitialized(method)
	}
	return v.Handler.HandleNotification(ctx, method, params)
}

func (a *AgentVersions) initialize(ctx context.Context, params json.RawMessage) (acp.Appender, error) {
	if !a.choosing.TryLock() {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "invalid request: " + errInitializing.Error()}
	}
	defer a.choosing.Unlock()
	asked, ok := protocolVersion(params)
	if !ok {
		return nil, acp.InvalidParams(acp.MethodInitialize, errors.New("protocolVersion is missing, or no number from 0 to 65535"))
	}
	v, err := a.choose(asked)
	if err != nil {
		return nil, err
	}
	answer, err := v.Handler.HandleRequest(ctx, acp.MethodInitialize, adapt(params, asked, v.Protocol))
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, acp.NoResult(acp.MethodInitialize)
	}
	result := answer.AppendJSON(nil)
	if n, _ := protocolVersion(result); n != v.Protocol.Version() {
		return nil, fmt.Errorf("%s: the handler of version %d answered with version %d", acp.MethodInitialize, v.Protocol.Version(), n)
	}
	a.agreed.Store(v)
	return acp.Raw(result), nil
}

// choose returns the version for a client that asked for one. A connection
// stays with the version it has.
func (a *AgentVersions) choose(asked int) (*AgentVersion, error) {
	if v := a.agreed.Load(); v != nil {
		if n := v.Protocol.Version(); n > 1 && asked < n {
			return nil, &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: fmt.Sprintf("invalid request: initialize: version %d is agreed on already", n)}
		}
		return v, nil
	}
	for i := range a.versions {
		if v := &a.versions[i]; v.Protocol.Version() <= asked {
			return v, nil
		}
	}
	if a.versions[0].Protocol.Version() == 1 {
		return &a.versions[0], nil
	}
	data := fmt.Appendf(nil, `{"requested":%d,"supported":[`, asked)
	for i := len(a.versions) - 1; i >= 0; i-- {
		data = fmt.Append(data, a.versions[i].Protocol.Version())
		if i > 0 {
			data = append(data, ',')
		}
	}
	return nil, &acp.Error{
		Code: acp.ErrorCodeUnsupportedProtocolVersion, Message: fmt.Sprintf("protocol version %d is not supported", asked),
		Data: append(data, "]}"...),
	}
}

// adapt returns the params of initialize for a version other than the one they
// were written for. Members of a newer client that do not fit are dropped
// rather than refused.
func adapt(params json.RawMessage, asked int, p acp.Protocol) json.RawMessage {
	version := p.Version()
	if asked == version {
		return params
	}
	x := acp.Extra(bytes.Clone(params))
	set(&x, "protocolVersion", fmt.Append(nil, version))
	if version == 1 {
		toVersion1(&x)
	}
	if asked < version || fits(p, x) {
		return json.RawMessage(x)
	}
	kept := acp.Extra(`{}`)
	if version > 1 {
		set(&kept, "info", []byte(`{"name":"unknown","version":"unknown"}`)) // is required
	}
	for name, value := range x.All() {
		with := bytes.Clone(kept)
		set((*acp.Extra)(&with), name, value)
		if name == "protocolVersion" || fits(p, with) {
			kept = with
		}
	}
	return json.RawMessage(kept)
}

func fits(p acp.Protocol, params []byte) bool {
	_, err := p.DecodeRequest(acp.SideAgent, acp.MethodInitialize, params)
	return err == nil
}

// toVersion1 adds what version 1 has under other names, unless it is there. It
// knows no other capabilities of newer clients, and never claims more for them.
func toVersion1(x *acp.Extra) {
	if info, has := x.Get("info"); has {
		add(x, "clientInfo", info)
	}
	newer, has := x.Get("capabilities")
	if !has {
		return
	}
	older := acp.Extra(`{}`)
	if elicitation, has := acp.Extra(newer).Get("elicitation"); has {
		set(&older, "elicitation", elicitation)
	}
	auth, _ := acp.Extra(newer).Get("auth")
	if terminal, has := acp.Extra(auth).Get("terminal"); has && terminal[0] == '{' {
		set(&older, "auth", []byte(`{"terminal":true}`))
	}
	add(x, "clientCapabilities", older)
}

func add(x *acp.Extra, name string, value []byte) {
	if _, has := x.Get(name); !has {
		set(x, name, value)
	}
}
