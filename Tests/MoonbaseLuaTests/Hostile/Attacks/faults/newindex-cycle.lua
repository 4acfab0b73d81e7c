-- A cyclic chain of __newindex.
--! ends: lua.runtime
--! says: loop
local a, b = {}, {}
setmetatable(a, { __newindex = b })
setmetatable(b, { __newindex = a })
a.x = 1
