-- An error value whose __tostring returns no text.
--! ends: lua.runtime
error(setmetatable({}, { __tostring = function() return {} end }))
