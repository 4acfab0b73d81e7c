-- CVE-2020-24370: variables at the ends of the integers.
--! ends: lua.ok
pcall(function() return debug.getlocal(1, math.mininteger) end)
pcall(function() return debug.setlocal(1, math.mininteger, 1) end)
pcall(function(...) return debug.getlocal(1, -2 ^ 31 // 1 | 0) end, 1, 2)
