-- Numerals of many digits.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local digits = ("1"):rep(500000)
while true do
  tonumber(digits)
  tonumber(digits, 36)
  tonumber("0x" .. digits)
end
