local exe, tester, usual = ...
vim.env.HERMES_TEST_ROLE = "host"
function _G.agent(scenario)
  return { command = tester, env = { HERMES_TEST_SCENARIO = scenario } }
end
_G.serving = "SERVE " .. usual
hermes.setup({
  host = { cmd = { exe } },
  agents = {
    tester = agent(serving),
    second = agent(serving),
    help = agent("LINE Usage: agent [OPTIONS]\nLINE   --help   print this"),
    exit = agent("ERR no licence found\nEXIT 3"),
    options = agent(serving .. " options"),
    both = agent(serving .. " both"),
    curt = agent(serving .. " curt"),
    own = agent(serving .. " own"),
    levels = agent("SERVE levels"),
    modest = agent(serving .. " modest"),
    plain = agent("SERVE any commands"),
    hung = agent(serving .. " hung"),
    version = agent(serving .. " version"),
    mute = agent("WAIT 1h"),
    -- Takes its output for a terminal, and waits there for the user.
    chatty = agent(
      [[PUT "Do you trust this folder? [yN] \x1b[31m\u202e]]
        .. ("x"):rep(200)
        .. [[\n"]]
        .. "\nWAIT 1h"
    ),
    missing = { command = "no-such-program" },
  },
})
