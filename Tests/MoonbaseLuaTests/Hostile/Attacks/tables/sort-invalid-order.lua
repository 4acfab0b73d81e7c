-- A comparison that is no order.
--! ends: lua.ok
--! with: instructions=1M
for n = 1, 200 do
  local t = {}
  for i = 1, n do t[i] = i % 13 end
  pcall(table.sort, t, function() return true end)
  pcall(table.sort, t, function(a, b) return a <= b end)
end
