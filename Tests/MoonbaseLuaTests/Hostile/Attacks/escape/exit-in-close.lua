-- os.exit in a __close handler and in a message handler.
--! ends: lua.exit
--! not in pure: there is no os
local x <close> = setmetatable({}, { __close = function() while true do end end })
xpcall(function() os.exit(false) end, function() while true do end end)
