-- A move that would take years.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
table.move({}, 1, 2 ^ 60 // 1 | 0, 2)
