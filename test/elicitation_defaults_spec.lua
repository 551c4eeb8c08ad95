local eq = MiniTest.expect.equality

--- What the prompt asked and what the agent got, for a form of one field.
---@param property table
---@param required boolean
---@param typed string[] one for each prompt
---@return { prompts: string[], defaults: any[], answer: table }
local function fill(property, required, typed)
  local builtin_input, builtin_select = vim.ui.input, vim.ui.select
  local got = { prompts = {}, defaults = {} }
  vim.ui.select = function() end -- not the built-in one, so that the question is asked headless
  vim.ui.input = function(opts, on_confirm)
    got.prompts[#got.prompts + 1] = opts.prompt
    got.defaults[#got.defaults + 1] = opts.default
    on_confirm(typed[#got.prompts])
  end
  require("hermes.ask.elicitation").ask({
    requestId = "r",
    agent = "demo",
    mode = "form",
    message = "Say",
    requestedSchema = {
      type = "object",
      properties = { name = property },
      required = required and { "name" } or nil,
    },
  }, function(answer)
    got.answer = answer
  end)
  vim.wait(60000, function()
    return got.answer ~= nil
  end, 2)
  vim.ui.input, vim.ui.select = builtin_input, builtin_select
  return got
end

describe("the default of a field", function()
  it("is shown in the prompt and taken by an empty answer", function()
    local rows = {
      { { type = "string", default = "main" }, "main" },
      { { type = "string", default = "À\u{2000}怀" }, "À\u{2000}怀" }, -- bytes 0x80 inside
      { { type = "integer", default = 3 }, "3" },
      { { type = "number", default = 0.5 }, "0.5" },
      { { type = "number", default = 0 }, "0" },
      { { type = "string", default = "a\3:q\27\r" }, "a<03>:q<1b><0d>" },
      { { type = "string", default = "a\nb" }, "a<0a>b" },
      { { type = "string", default = "\u{202e}x\u{2028}\u{9b}" }, "<U+202E>x<U+2028><U+009B>" },
      { { type = "string", default = "\128\253a" }, "<80><fd>a" },
      { { type = "string", default = ("x"):rep(200) }, ("x"):rep(100) .. "…" },
    }
    for _, required in ipairs({ true, false }) do
      for _, row in ipairs(rows) do
        local got = fill(row[1], required, { "" })
        eq(got.prompts, { ("Say: name (default: %s): "):format(row[2]) })
        eq(got.answer, { action = "accept", content = { name = row[1].default } })
      end
    end
  end)

  it("is never put on the line that the user edits", function()
    for _, default in ipairs({ "main", "", "\3:q", 3, 1.5, true, { "a" }, { a = "b" } }) do
      for _, kind in ipairs({ "string", "number", "integer", "_other" }) do
        eq(fill({ type = kind, default = default }, false, { "" }).defaults, {})
      end
    end
  end)

  it("gives way to what the user types", function()
    local got = fill({ type = "string", default = "main" }, true, { "mine" })
    eq(got.answer, { action = "accept", content = { name = "mine" } })
  end)

  it("does not count when it is not a value of the field", function()
    for _, property in ipairs({
      { type = "string", default = 3 },
      { type = "string", default = { "a" } },
      { type = "string", default = { a = "b" } },
      { type = "string", default = true },
      { type = "string", default = vim.NIL },
      { type = "string", default = "" },
      { type = "string", default = "long", maxLength = 2 },
      { type = "number", default = "3" },
      { type = "number", default = 9, maximum = 8 },
      { type = "integer", default = 1.5 },
      { type = "_other", default = {} },
    }) do
      local got = fill(property, false, { "" })
      eq(got.prompts, { "Say: name: " })
      eq(got.answer, { action = "accept", content = vim.empty_dict() })
    end
  end)

  it("is one of the values that a field offers", function()
    local default_of = require("hermes.ask.form_fields").default_of
    local sizes = { { const = "s" }, { const = "m", title = "M" }, { title = "nothing" } }
    for _, row in ipairs({
      { { type = "boolean", default = false }, false },
      { { type = "boolean", default = true }, true },
      { { type = "boolean", default = "yes" } },
      { { type = "string", oneOf = sizes, default = "m" }, "m" },
      { { type = "string", oneOf = sizes, default = "xl" } },
      { { type = "string", enum = { "a", "b" }, default = "b" }, "b" },
      { { type = "array", items = { anyOf = sizes }, default = { "m", "s" } }, { "m", "s" } },
      { { type = "array", items = { enum = { "a" } }, default = {} }, {} },
      { { type = "array", items = { enum = { "a" } }, default = { "a", "b" } } },
      { { type = "array", items = { enum = { "a" } }, default = "a" } },
    }) do
      eq({ row[1], default_of(row[1]) }, { row[1], row[2] })
    end
  end)

  it("is still shown after an answer that does not fit", function()
    local got = fill({ type = "integer", default = 3 }, true, { "x", "" })
    eq(got.prompts[2], "Say: name (a whole number, please) (default: 3): ")
    eq(got.answer.content, { name = 3 })
  end)
end)
