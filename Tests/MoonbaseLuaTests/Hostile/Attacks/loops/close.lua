-- A __close handler that never returns.
--! ends: lua.limit.instructions
--! timed
do local x <close> = setmetatable({}, { __close = function() while true do end end }) end
