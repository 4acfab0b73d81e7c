-- A yield out of a sort.
--! ends: lua.runtime
--! says: yield
coroutine.wrap(function() table.sort({ 2, 1 }, coroutine.yield) end)()
