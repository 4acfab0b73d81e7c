-- An iterator that searches to the end at each step.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
for _ in ("a"):rep(100000):gmatch(".-b") do end
