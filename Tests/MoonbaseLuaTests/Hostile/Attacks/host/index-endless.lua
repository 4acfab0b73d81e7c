-- A metamethod that the host's reading calls is time in Lua.
--! ends: lua.limit.instructions
--! timed
index(setmetatable({}, { __index = function() while true do end end }))
