-- Floats with one hash in a table of 2^19 places: few bits count, and those are multiples of 2^19 - 1.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t = {}
for j = 2056, 4087 do
  local key = (j * 524287 - 1) * 2.0 ^ -30
  for low = 0, 130 do t[key + low * 2.0 ^ -52] = true end
end
t.more = true
