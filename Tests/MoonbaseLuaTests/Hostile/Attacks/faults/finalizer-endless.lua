-- A finalizer would run with hooks off.
--! ends: lua.runtime
--! says: __gc
--! not in trusted: trusted has finalizers, and Lua runs them where no limit looks
setmetatable({}, { __gc = function() while true do end end })
