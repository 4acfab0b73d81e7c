-- The same, out of a coroutine.
--! ends: lua.runtime lua.limit.instructions
--! timed
coroutine.wrap(function() error(setmetatable({}, { __tostring = function() while true do end end })) end)()
