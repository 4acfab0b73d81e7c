-- Closures without end.
--! ends: lua.limit.memory
--! with: instructions=1M
local t = {}
for i = 1, math.huge do t[#t + 1] = function() return i end end
