-- A handle kept by a suspended coroutine.
--! ends: lua.runtime
--! says: used outside of its callback
local co
scoped(function(o) co = coroutine.wrap(function() coroutine.yield(o.name) return o.name end) co() end)
return co()
