-- CVE-2024-31449: every conversion with hostile flags and values.
--! ends: lua.ok
local values = { 0, -1, 1e308, -1e308, 0 / 0, 1 / 0, math.mininteger, math.maxinteger, "x", ("x"):rep(1000), "a\0b" }
for _, c in ipairs { "d", "i", "u", "c", "x", "X", "o", "e", "E", "f", "F", "g", "G", "a", "A", "q", "s", "", "%", "\0", "n", "z" } do
  for _, f in ipairs { "", "-", "+", " ", "#", "0", "99", "99.99", ".99", "-99.99", "100", ".100", "-+ #0", "-+ #0-+ #0", "0.", "." } do
    for _, v in ipairs(values) do pcall(string.format, "%" .. f .. c, v) end
  end
end
