-- An error value whose endless text is read outside of its coroutine.
--! ends: lua.runtime lua.limit.instructions
--! timed
coroutine.wrap(function() error(setmetatable({}, { __tostring = function() while true do end end })) end)()
