-- A handle kept by a coroutine that waits.
--! ends: lua.runtime
--! says: used outside of its callback
local co
scoped(function(o) co = coroutine.wrap(function() coroutine.yield(o.name) return o.name end) co() end)
return co()
