-- A move down by 2^31, out of bounds in another dialect.
--! ends: lua.limit.instructions lua.runtime
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
table.move({ 1, 2, 3 }, 1, math.maxinteger, -2 ^ 31 // 1 | 0)
