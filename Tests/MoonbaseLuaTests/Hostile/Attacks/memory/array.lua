-- An array without end.
--! ends: lua.limit.memory
--! with: instructions=1M
local t = {}
for i = 1, math.huge do t[i] = i end
