-- A sequence without end.
--! ends: lua.limit.instructions
--! timed
for _ in ipairs(setmetatable({}, { __index = function() return 1 end })) do end
