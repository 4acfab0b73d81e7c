-- Formats that are read letter by letter and produce nothing.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local format = ("x"):rep(500000)
while true do string.packsize(format) end
