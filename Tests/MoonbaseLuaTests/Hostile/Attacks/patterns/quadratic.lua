-- A search that fails at each of many positions.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
return ("a"):rep(200000):gsub(".-b", "x")
