-- Takes names, addresses and numbers out of a copy of a store:
--
--   scripts/moonbase backup app.sqlite copy.sqlite
--   scripts/moonbase each Person --store copy.sqlite --script lua/examples/anonymous/anonymous.lua
--
-- Each text becomes another text of the same form. Equal texts stay equal, and numbers and dates stay. With --dry-run
-- the command shows what would change.

local alphabet = "abcdefghijklmnopqrstuvwxyz"

--- A text of the same form: each letter and digit is replaced, and the whole text decides by which.
local function disguised(text)
  local seed = 0
  for _, code in utf8.codes(text) do seed = (seed * 31 + code) % 2147483647 end
  local function next_number(count)
    seed = (seed * 48271 + 11) % 2147483647
    return seed % count + 1
  end
  return (text:gsub("[\194-\244][\128-\191]*", "x"):gsub("%w", function(letter)
    if letter:find("%d") then return tostring(next_number(10) - 1) end
    local at = next_number(26)
    local new = alphabet:sub(at, at)
    return letter:find("%u") and new:upper() or new
  end))
end

--- The substitute of a value. In a composite attribute, or a table that a transformer gives, each text is replaced.
local function stand_in(value)
  if type(value) == "string" then return utf8.len(value) and disguised(value) or value end
  if type(value) == "table" then
    for key, element in pairs(value) do value[key] = stand_in(element) end
  end
  return value
end

return function(object)
  for key, value in pairs(object) do
    if type(value) == "string" or type(value) == "table" then object[key] = stand_in(value) end
  end
end
