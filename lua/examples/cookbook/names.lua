-- A name has single spaces, and its words begin with a capital.
local text = require "moonbase.text"

local small = { de = true, la = true, von = true }

return function(person)
  local words = text.split(text.trim(person.name), "%s+", { pattern = true })
  for index, word in ipairs(words) do words[index] = small[word] and word or text.title(word) end
  person.name = table.concat(words, " ")
end
