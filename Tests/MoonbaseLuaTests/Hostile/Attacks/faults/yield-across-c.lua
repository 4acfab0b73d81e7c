-- A yield out of a C function.
--! ends: lua.runtime
--! says: yield
coroutine.wrap(function() ("x"):gsub("x", coroutine.yield) end)()
