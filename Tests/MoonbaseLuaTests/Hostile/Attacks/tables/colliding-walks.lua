-- In walks each key is searched among the keys before it.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local keys = { text = true }
for i = 1, 2 ^ 13 do keys[i * 8191] = true end
while true do
  for _ in pairs(keys) do next(keys) end
end
