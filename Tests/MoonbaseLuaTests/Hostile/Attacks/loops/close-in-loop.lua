-- To-be-closed variables without end, each of which catches errors.
--! ends: lua.limit.instructions
--! timed
local t = setmetatable({}, { __close = function() pcall(function() while true do end end) end })
while true do pcall(function() local x <close> = t; error() end) end
