-- Dates that C's functions cannot hold.
--! ends: lua.ok
--! not in trusted: trusted has Lua's own functions
--! not in pure: there is no os
for _, f in ipairs { "*t", "!*t", "%c", "%", "%E", "%Ez", "%O", "%Q", "\0", ("%Y"):rep(100) } do
  for _, t in ipairs { 0, -1, 2 ^ 31 // 1 | 0, 2 ^ 55 // 1 | 0, math.maxinteger, math.mininteger } do pcall(os.date, f, t) end
end
for _, v in ipairs { 2 ^ 31 // 1 | 0, math.mininteger, "x", 0.5, {} } do
  pcall(os.time, { year = v, month = 1, day = 1 })
  pcall(os.time, { year = 2000, month = v, day = v, hour = v, min = v, sec = v, isdst = v })
end
