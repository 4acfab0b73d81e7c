-- A __close handler that runs because the limit ended its block.
--! ends: lua.limit.instructions
--! timed
local x <close> = setmetatable({}, { __close = function() while true do end end })
while true do end
