-- The error value that ends a run is invisible to the script.
--! ends: lua.limit.instructions
local seen
local x <close> = setmetatable({}, { __close = function(_, e) seen = e; print(e); error(e) end })
xpcall(function() while true do end end, function(e) seen = e end)
while true do if seen then error(seen) end end
