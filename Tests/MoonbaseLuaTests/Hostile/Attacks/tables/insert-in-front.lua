-- Elements inserted before many others, repeatedly.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local t = {}
for i = 1, 50000 do t[i] = 1 end
while true do table.insert(t, 1, 1); table.remove(t, 1) end
