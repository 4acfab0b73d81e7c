-- A false length: remove would shift for years.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
table.remove(setmetatable({}, { __len = function() return 2 ^ 60 // 1 | 0 end }), 1)
