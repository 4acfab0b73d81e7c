-- Sorting in C, repeatedly.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local t = {}
for i = 1, 20000 do t[i] = i % 7 end
while true do table.sort(t) end
