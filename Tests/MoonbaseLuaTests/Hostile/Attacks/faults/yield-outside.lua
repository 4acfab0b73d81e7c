-- A yield outside of a coroutine.
--! ends: lua.runtime
--! says: yield
coroutine.yield()
