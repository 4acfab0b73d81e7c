-- A long separator between many elements.
--! ends: lua.limit.memory
local t = {}
for i = 1, 1000 do t[i] = "" end
return table.concat(t, ("x"):rep(100000))
