-- Long texts walked repeatedly, in one instruction each.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's function: one instruction, however long it takes
local text = ("\u{10FFFF}"):rep(100000)
local step = utf8.codes(text)
while true do
  pcall(step, "a" .. ("\x80"):rep(10000), 1)
  utf8.len(text)
  utf8.offset(text, 99999)
  utf8.offset(text, -99999)
  pcall(utf8.codepoint, text, 1, 4000)
end
