-- A script manipulates a host error.
--! ends: lua.ok
local ok, e = pcall(fail)
assert(not ok and not getmetatable(e) and tostring(e):find("refused"))
assert(not pcall(function() e.message = 1 end))
assert(not pcall(function() return e + 1 end))
assert(e.message and not e.other)
pcall(rawset, e, 1, 1) pcall(rawlen, e) pcall(next, e) pcall(setmetatable, e, {})
for _ = 1, 1000 do pcall(fail) end
