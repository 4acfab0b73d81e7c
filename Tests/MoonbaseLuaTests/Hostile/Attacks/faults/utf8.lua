-- Bytes that are no UTF-8, and positions at the ends of the integers.
--! ends: lua.ok
local all = { "", "\x80", "\xff", "a\x80", "\xf4\x90\x80\x80", "\xed\xa0\x80", ("\x80"):rep(100), "\xc3" }
for _, s in ipairs(all) do
  for _, i in ipairs { 0, 1, -1, 2 ^ 31 // 1 | 0, math.mininteger, math.maxinteger } do
    pcall(utf8.len, s, i, i)
    pcall(utf8.codepoint, s, i, i)
    pcall(utf8.offset, s, i, i)
    pcall(utf8.char, i)
  end
  pcall(function() for _ in utf8.codes(s) do end end)
  pcall(function() for _ in utf8.codes(s, true) do end end)
end
