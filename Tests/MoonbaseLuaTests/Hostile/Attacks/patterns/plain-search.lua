-- Plain searches, repeatedly.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local s = ("a"):rep(100000)
while true do s:find("aab", 1, true) end
