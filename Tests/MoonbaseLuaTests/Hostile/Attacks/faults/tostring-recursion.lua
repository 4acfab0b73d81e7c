-- Metamethods that call themselves through C.
--! ends: lua.stack
tostring(setmetatable({}, { __tostring = function(t) return tostring(t) end }))
