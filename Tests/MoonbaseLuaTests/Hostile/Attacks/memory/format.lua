-- A text used many times in a format.
--! ends: lua.limit.memory lua.limit.instructions
local s = ("x"):rep(1000000)
return string.format(("%s"):rep(60), table.unpack(setmetatable({}, { __index = function() return s end }), 1, 60))
