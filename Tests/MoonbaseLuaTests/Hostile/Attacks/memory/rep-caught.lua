-- Repetitions of gigabytes, with each failure caught.
--! ends: lua.limit.memory lua.limit.instructions
while true do pcall(string.rep, "x", 1e9 // 1 | 0) end
