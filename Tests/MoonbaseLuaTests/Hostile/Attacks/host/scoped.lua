-- A handle kept after its callback.
--! ends: lua.runtime
--! says: used outside of its callback
scoped(function(o) kept = o; assert(o.name) end)
return kept.name
