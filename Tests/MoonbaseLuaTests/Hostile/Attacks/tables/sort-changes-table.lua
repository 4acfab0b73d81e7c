-- A comparison that empties the table being sorted.
--! ends: lua.ok
--! with: instructions=1M
local t = {}
for i = 1, 1000 do t[i] = (i * 7919) % 1000 end
pcall(table.sort, t, function(a, b)
  for i = 1, #t do t[i] = nil end
  collectgarbage()
  return (a or 0) < (b or 0)
end)
