-- A __pairs that never ends.
--! ends: lua.limit.instructions
--! timed
for _ in pairs(setmetatable({}, { __pairs = function() return function() return 1 end end })) do end
