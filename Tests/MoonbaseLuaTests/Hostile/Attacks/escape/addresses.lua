-- Addresses of the process (%p, tostring, randomseed).
--! ends: lua.ok
--! not in trusted: trusted has Lua's own functions
assert(not pcall(string.format, "%p", {}))
assert(not pcall(string.format, "%10p", print))
assert(not pcall(string.format, "%s %-5p", 1, {}))
for _, v in ipairs { {}, print, coroutine.create(print), function() end, string.rep } do
  for _, text in ipairs { tostring(v), string.format("%s", v), string.format("%-30s|", v) } do
    assert(tonumber(text:match("0x(%x+)"), 16) < 65536, text)
  end
end
assert(select("#", math.randomseed()) == 0 and select("#", math.randomseed(1)) == 0)
local ok, message = pcall(error, {})
assert(type(message) == "table")
local _, text = pcall(function() return {} + 1 end)
assert(not text:find("0x"))
