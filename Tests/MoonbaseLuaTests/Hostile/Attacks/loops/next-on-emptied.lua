-- next passes over the removed entries of a large table.
--! ends: lua.limit.instructions lua.limit.memory
--! timed
local t = {}
for i = 1, 2 ^ 15 do t["k" .. i] = i end
for k in pairs(t) do t[k] = nil end
while true do next(t) end
