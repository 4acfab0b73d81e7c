-- Comparison and concatenation that never return, one caught by the other.
--! ends: lua.limit.instructions
--! timed
local t = setmetatable({}, { __lt = function() while true do end end, __concat = function() while true do end end })
pcall(function() return t < t end)
return t .. t
