-- An exponential pattern under pcall.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
while true do pcall(string.find, ("a"):rep(40), ("a-"):rep(8) .. "b") end
