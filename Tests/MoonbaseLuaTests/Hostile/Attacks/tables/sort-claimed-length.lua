-- A false length and a comparison in C: no hook runs.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
table.sort(setmetatable({}, { __len = function() return 2 ^ 30 | 0 end }), math.type)
