-- An error value whose text is computed endlessly.
--! ends: lua.runtime lua.limit.instructions
--! timed
error(setmetatable({}, { __tostring = function() while true do end end }))
