-- A finalizer set after the metatable has no effect.
--! ends: lua.ok
local mt = {}
local t = setmetatable({}, mt)
mt.__gc = function() while true do end end
t = nil
collectgarbage()
