-- Integers with one hash in a table of 2^19 places: growing to that size takes minutes and runs no hook.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t = {}
for i = 1, 2 ^ 18 do t[i * 524287] = true end
t.more = true
