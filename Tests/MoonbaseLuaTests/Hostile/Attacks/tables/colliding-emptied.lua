-- Colliding keys replace removed keys while the table is full.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t, base = {}, 1 << 40
for i = 1, 2 ^ 18 do t[base + i] = true end
for i = 1, 2 ^ 18 do
  t[base + i] = nil
  t[i * 524287] = true
end
for i = 1, 2 ^ 18 do t[i * 524287] = true end
t.more = true
