-- A function made by wrap, after its end.
--! ends: lua.runtime
--! says: dead
local f = coroutine.wrap(function() end)
f() f()
