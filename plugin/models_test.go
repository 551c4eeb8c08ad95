package plugin

import "testing"

func TestModelsAreSetByTheirOwnMethodWhenTheAgentAnnouncesThem(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.is(`hermes.models(s).currentModelId`, "big")
		e.lua(`hermes.set_model(s, "small", { on_done = finish("model") })`)
		e.until("done.model")
		e.is("done.model.err == nil", true)
		e.is(`hermes.models(s).currentModelId`, "small")
		e.is(`of("ModelUpdated")[1].modelId`, "small")
		e.lua(`hermes.set_session_model(s, "huge", { on_done = finish("bad") })`)
		e.until("done.bad")
		e.is("done.bad.err.code", -32602)
		e.is(`hermes.models(s).currentModelId`, "small")
	})
}

func TestModelsAreSetByTheConfigOptionOfTheirCategory(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"options"`)
		e.is(`vim.tbl_map(function(m) return m.modelId .. "=" .. m.name end, hermes.models(s).availableModels)`, []string{"big=Big", "small=Small"})
		e.lua(`hermes.set_model(s, "small", { on_done = finish("model") })`)
		e.until("done.model")
		e.is(`hermes.models(s).currentModelId`, "small")
		e.is(`hermes.config_options(s)[1].currentValue`, "small")
		e.is(`of("ConfigurationUpdated")[1].configId`, "m")
		e.is(`vim.tbl_map(function(x) return x.modelId end, of("ModelUpdated"))`, []string{"small"})
	})
}

func TestASessionWithoutModelsSaysSo(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"plain"`)
		e.is(`hermes.models(s) == nil and hermes.modes(s) == nil and #hermes.config_options(s) == 0`, true)
		e.lua(`hermes.set_model(s, "small", { on_done = finish("model") })`)
		e.until("done.model")
		e.is("done.model.err.kind", "unsupported")
		e.lua(`hermes.set_model("nowhere", "small", { on_done = finish("unknown") })`)
		e.until("done.unknown")
		e.is("done.unknown.err.kind", "unknown_session")
		e.is(`of("RequestFailed")[1].method`, "session/set_model")
	})
}
