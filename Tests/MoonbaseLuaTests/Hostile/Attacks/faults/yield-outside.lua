-- A yield where nobody resumed.
--! ends: lua.runtime
--! says: yield
coroutine.yield()
