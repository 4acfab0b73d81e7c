-- A metamethod called by a host read counts as time in Lua.
--! ends: lua.limit.instructions
--! timed
index(setmetatable({}, { __index = function() while true do end end }))
