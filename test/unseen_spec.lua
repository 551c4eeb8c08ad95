local unseen = require("hermes.session.unseen")
local eq = MiniTest.expect.equality

local function note(session, count, reason, limit)
  unseen.note({
    root = "/w",
    agent = "a",
    sessionId = session,
    count = count,
    reason = reason,
    limit = limit,
  })
end

local function of(session, root)
  return unseen.of({ agent = "a", sessionId = session, root = root or "/w" })
end

describe("what a record lacks", function()
  it("is nothing, where nothing was heard of", function()
    eq(of("quiet"), "record complete")
  end)

  it("is what was last heard", function()
    note("s", 1, "a door")
    eq(of("s"), "1 change was not recorded, because a door")
    note("s", 2, "a \27gate")
    eq(of("s"), "2 changes were not recorded, because a <1b>gate")
  end)

  it("is what compared files cannot say", function()
    note("c", 0, "compared files", "compared files")
    eq(of("c"), "compared files")
    note("c", 1, "a door", "compared files")
    eq(of("c"), "compared files; 1 change was not recorded, because a door")
  end)

  it("is not known where another Neovim hears it", function()
    unseen.hears("/other", false)
    eq(of("quiet", "/other"), "what its record lacks is not known here")
    eq(of("quiet"), "record complete")
    unseen.hears("/other", true)
    eq(of("quiet", "/other"), "record complete")
  end)
end)
