-- Makes an index of the words in notes, and brings it up to date:
--
--   scripts/moonbase import Note notes.ndjson --store notes.sqlite --model lua/examples/words/model.lua
--   scripts/moonbase batch run lua/examples/words/words.lua --store notes.sqlite
--   scripts/moonbase fetch Note --store notes.sqlite --where 'ANY words.word = "moon"' --columns title
local text = require "moonbase.text"

return {
  request = function(context) return context:fetch("Note"):where("text != NULL") end,
  chunk = function(notes, context)
    local known = {}
    for _, note in ipairs(notes) do
      local words = {}
      for word in text.fold(note.text, "cd"):gmatch("[%w\128-\244]+") do
        known[word] = known[word] or context:upsert("Word", { "word" }, { word = word })
        words[known[word]] = true
      end
      local list = {}
      for word in pairs(words) do list[#list + 1] = word end
      note.words = list
    end
  end,
  -- Words that no note has any more.
  finish = function(context)
    for word in context:fetch("Word"):where("notes.@count = 0"):each() do context:delete(word) end
  end,
}
