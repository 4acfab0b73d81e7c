-- Metamethods that call themselves by way of C.
--! ends: lua.stack
tostring(setmetatable({}, { __tostring = function(t) return tostring(t) end }))
