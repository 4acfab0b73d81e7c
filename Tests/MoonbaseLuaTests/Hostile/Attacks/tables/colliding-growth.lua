-- Whole numbers that have one hash once the table has 2^19 places: growing to these takes Lua minutes, and no hook is looked at.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t = {}
for i = 1, 2 ^ 18 do t[i * 524287] = true end
t.more = true
