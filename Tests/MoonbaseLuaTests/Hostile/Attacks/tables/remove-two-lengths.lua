-- A table that returns a small length at the first call, and an enormous one afterwards.
--! ends: lua.ok lua.runtime
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
local function liar()
  local asked = 0
  return setmetatable({}, { __len = function() asked = asked + 1 return asked == 1 and 5 or 2 ^ 60 | 0 end })
end
table.remove(liar(), 1)
pcall(table.sort, liar(), math.type)
pcall(table.concat, liar())
pcall(table.insert, liar(), 1, 1)
pcall(table.unpack, liar())
