-- Packing and unpacking with hostile options.
--! ends: lua.ok
local options = { "i17", "!17", "i0", "s17", "c", "X", "Xz", "!3i3", "j" .. ("9"):rep(30), "i" .. ("0"):rep(99), "z", "s1" }
for _, o in ipairs(options) do
  pcall(string.pack, o, 1)
  pcall(string.pack, o, ("x"):rep(300))
  pcall(string.packsize, o)
  for _, i in ipairs { 0, 1, -1, 5, math.mininteger, math.maxinteger } do pcall(string.unpack, o, "abcd", i) end
end
