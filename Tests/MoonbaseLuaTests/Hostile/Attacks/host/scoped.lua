-- A handle kept after the callback that it was for.
--! ends: lua.runtime
--! says: used outside of its callback
scoped(function(o) kept = o; assert(o.name) end)
return kept.name
