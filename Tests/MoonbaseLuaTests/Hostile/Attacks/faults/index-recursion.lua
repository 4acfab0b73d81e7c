-- Metamethods that call themselves.
--! ends: lua.stack
return setmetatable({}, { __index = function(t, k) return t[k] end }).x
