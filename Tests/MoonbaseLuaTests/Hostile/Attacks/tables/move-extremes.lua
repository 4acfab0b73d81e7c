-- A move whose ends overflow.
--! ends: lua.runtime
table.move({ 1, 2, 3 }, math.mininteger, math.maxinteger, 1)
