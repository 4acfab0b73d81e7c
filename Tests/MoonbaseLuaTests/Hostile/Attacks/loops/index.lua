-- An __index that never returns.
--! ends: lua.limit.instructions
--! timed
return setmetatable({}, { __index = function() while true do end end }).x
