-- An error value whose text takes for ever.
--! ends: lua.runtime lua.limit.instructions
--! timed
error(setmetatable({}, { __tostring = function() while true do end end }))
