-- Writes to a library by functions implemented in C.
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
for _, library in pairs { string, table, math, utf8, coroutine } do
  assert(not pcall(table.insert, library, 1))
  assert(not pcall(table.move, { 1 }, 1, 1, 1, library))
  assert(not pcall(table.sort, setmetatable({}, { __index = library, __newindex = library, __len = function() return 2 end })))
  assert(not pcall(setmetatable, library, {}))
  assert(not getmetatable(library))
  -- Raw reads reach the functions and cannot write.
  local name, value = next(library)
  assert(library[name] == value and rawget(library, name) == value and rawget(library, "no such") == nil)
  assert(not pcall(rawset, library, name, print) and rawget(library, name) == value)
  assert(rawlen(library) == 0 and not pcall(rawget, 5, 1))
end
assert(not pcall(table.remove, string, 1))
