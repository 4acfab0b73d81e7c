-- A loop in a coroutine made by wrap.
--! ends: lua.limit.instructions
--! timed
coroutine.wrap(function() while true do end end)()
