_G.answers = {}
hermes.on("TurnEnded", function()
  hermes.review.files({
    on_done = function(_, result)
      local counts = {}
      for _, file in ipairs(result and result.files or {}) do
        counts[vim.fs.basename(file.path)] = file.added
      end
      answers[#answers + 1] = { counts["hello.txt"] or 0, counts["plain.txt"] or 0 }
    end,
  })
end)
