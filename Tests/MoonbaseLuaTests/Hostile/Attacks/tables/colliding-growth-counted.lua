-- The same with a count of instructions, which the growth alone is too much for.
--! ends: lua.limit.instructions
--! with: instructions=20M memory=64M
local t = {}
for i = 1, 2 ^ 18 do t[i * 524287] = true end
t.more = true
