package host

import (
	"fmt"
	"testing"
)

func TestModelsAreSetByTheirOwnMethodWhenTheAgentAnnouncesThem(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
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
	inNeovim(t, func(t *testing.T, e *editor) {
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

// The ids of the two ways may differ. Those of models() count.
func TestOfTwoWaysToSetTheModelTheConfigOptionCounts(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"both"`)
		e.is(`vim.tbl_map(function(m) return m.modelId end, hermes.models(s).availableModels)`, []string{"big", "small"})
		e.is(`hermes.models(s).currentModelId`, "big")
		e.lua(`hermes.set_model(s, "small", { on_done = finish("model") })`)
		e.until("done.model")
		e.is("done.model.err == nil", true)
		e.is(`hermes.models(s).currentModelId`, "small")
		e.lua(`hermes.set_model(s, "big[low]", { on_done = finish("old") })`) // only models lists it
		e.until("done.old")
		e.is("done.old.err == nil", true)
		e.is(`hermes.models(s).currentModelId`, "big")
		e.is(`hermes.state(s).models.currentModelId`, "big[low]")
		e.is(`vim.tbl_map(function(x) return x.modelId end, of("ModelUpdated"))`, []string{"small", "big"})
	})
}

// Some agents answer {} and send the list as an update, before or later.
func TestAnOptionThatIsSetWithoutAListIsSet(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"curt"`)
		for i, value := range []string{"small", "big"} {
			e.lua(`done.option = nil; hermes.set_config_option(s, { id = "m", value = ... }, { on_done = finish("option") })`, value)
			e.until("done.option")
			e.is("done.option.err == nil and next(done.option.result) == nil", true)
			e.is(`hermes.config_options(s)[1].currentValue`, value)
			e.is(fmt.Sprintf(`of("ConfigurationUpdated")[%d].configOptions[1].currentValue`, i+1), value)
			e.is(fmt.Sprintf(`of("ConfigurationUpdated")[%d].configOptions[1].options[1].name`, i+1), "All")
			e.until(fmt.Sprintf(`#of("AgentConfigOption") == %d`, i+1))
			e.is(`hermes.config_options(s)[1].currentValue`, value)
			e.is(`hermes.models(s).currentModelId`, value)
		}
		e.is(`vim.tbl_map(function(x) return x.modelId end, of("ModelUpdated"))`, []string{"small", "big"})
	})
}

func TestASessionWithoutModelsSaysSo(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
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

func TestOptionsAreSetByWhatTheyAreFor(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.openWith(`"levels"`)
		e.is(`hermes.thought_levels(s).current`, "low")
		e.is(`vim.tbl_map(function(o) return o.value .. "=" .. o.name end, hermes.thought_levels(s).options)`, []string{"low=Low", "high=High"})
		e.is(`vim.tbl_map(function(o) return o.id .. "=" .. tostring(o.currentValue) end, hermes.model_configurations(s))`, []string{"web=false"})
		e.lua(`hermes.set_thought_level(s, "high", { on_done = finish("level") })`)
		e.until("done.level")
		e.is("done.level.err == nil", true)
		e.is(`hermes.thought_levels(s).current`, "high")
		e.is(`vim.tbl_map(function(x) return x.level end, of("ThoughtLevelUpdated"))`, []string{"high"})
		e.lua(`hermes.configure_model(s, { id = "web", value = true }, { on_done = finish("web") })`)
		e.until("done.web")
		e.is("done.web.err == nil", true)
		e.is(`hermes.model_configurations(s)[1].currentValue`, true)
		e.is(`vim.tbl_map(function(x) return { x.configId, x.value } end, of("ModelConfigurationUpdated"))`, [][]any{{"web", true}})
		e.lua(`hermes.set_session_config_option(s, { id = "effort", value = "low" }, { on_done = finish("option") })`)
		e.until("done.option")
		e.is(`vim.tbl_map(function(x) return x.level end, of("ThoughtLevelUpdated"))`, []string{"high", "low"})
		e.is(`#of("ModelUpdated")`, 0)
		// An option of another category is not taken for it.
		e.lua(`hermes.configure_model(s, { id = "effort", value = "low" }, { on_done = finish("wrong") })`)
		e.until("done.wrong")
		e.is("{ done.wrong.err.kind, done.wrong.err.message }", []string{"unsupported", `the agent offers no model config option "effort" in this session`})
		e.lua(`hermes.set_thought_level("nowhere", "low", { on_done = finish("nowhere") })`)
		e.until("done.nowhere")
		e.is("done.nowhere.err.kind", "unknown_session")
	})
}
