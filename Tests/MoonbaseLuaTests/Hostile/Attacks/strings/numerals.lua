-- Numerals of many digits.
--! ends: lua.ok lua.limit.instructions
for _, n in ipairs { 10, 200, 201, 100000 } do
  tonumber(("9"):rep(n)) tonumber("0x" .. ("f"):rep(n)) tonumber(("1"):rep(n), 2) tonumber("1e" .. ("9"):rep(n))
  tonumber((" "):rep(n)) tonumber("0x." .. ("f"):rep(n) .. "p-" .. ("9"):rep(20))
end
