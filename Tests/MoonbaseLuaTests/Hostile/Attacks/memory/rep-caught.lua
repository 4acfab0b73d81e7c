-- The same, without end.
--! ends: lua.limit.memory lua.limit.instructions
while true do pcall(string.rep, "x", 1e9 // 1 | 0) end
