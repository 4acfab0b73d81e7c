-- An error value whose text is none.
--! ends: lua.runtime
error(setmetatable({}, { __tostring = function() return {} end }))
