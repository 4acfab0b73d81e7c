-- A hundred million elements moved in C.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
while true do table.move({}, 1, 1e8, 2) end
