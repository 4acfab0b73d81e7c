-- A table with colliding keys that shrinks.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t, base = {}, 1 << 40
for i = 1, 2 ^ 18 do t[base + i] = true end
for i = 1, 2 ^ 18 do t[i * 262143] = true end
for i = 1, 2 ^ 18 do t[base + i] = nil end
for i = 1, 200 do t[i * 262143] = nil end
for i = 1, 100 do t[(i + (1 << 30)) * 262143] = true end
