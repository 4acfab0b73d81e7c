-- A text that doubles.
--! ends: lua.limit.memory
local s = "x"
while true do s = s .. s end
