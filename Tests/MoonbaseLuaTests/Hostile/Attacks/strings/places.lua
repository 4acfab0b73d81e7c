-- Positions at the ends of the integers.
--! ends: lua.ok
local ends = { 0, 1, -1, 2 ^ 31 // 1 | 0, -2 ^ 31 // 1 | 0, math.mininteger, math.maxinteger, 1e308, -1e308, 0.5 }
for _, i in ipairs(ends) do
  for _, j in ipairs(ends) do
    pcall(string.sub, "abc", i, j)
    pcall(string.byte, "abc", i, j)
    pcall(string.find, "abc", "b", i)
    pcall(string.find, "abc", "b", i, true)
    pcall(string.match, "abc", "()", i)
    pcall(string.gmatch, "abc", "()", i)
    pcall(string.gsub, "abc", "b", "c", i)
    pcall(select, i, j)
    pcall(math.random, i, j)
    pcall(table.concat, { 1, 2 }, "", i, j)
    pcall(string.char, i, j)
    pcall(tonumber, "z", i)
    pcall(math.fmod, i, j)
    pcall(function() return i // j, i % j, i << j, i >> j end)
  end
end
