-- Two sides that yield to each other.
--! ends: lua.limit.instructions
--! timed
local co = coroutine.wrap(function() while true do coroutine.yield() end end)
while true do co() end
