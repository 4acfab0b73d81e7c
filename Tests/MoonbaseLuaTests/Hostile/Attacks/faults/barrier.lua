-- CVE-2020-24342, 24371: objects of different ages while the collector works.
--! ends: lua.ok lua.limit.memory lua.limit.instructions
local old = {}
for i = 1, 20000 do
  old[i % 50 + 1] = setmetatable({ i, next = old[(i * 7) % 50 + 1] }, old[(i * 3) % 50 + 1])
  if i % 500 == 0 then collectgarbage("step") end
  for j = 1, 50 do if old[j] then setmetatable(old[j], nil) end end
  local t = old[1]
  if t then t.next = nil end
end
