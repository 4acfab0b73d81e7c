-- A growing table with colliding keys and a limit on instructions, which the growth alone exceeds.
--! ends: lua.limit.instructions
--! with: instructions=20M memory=64M
local t = {}
for i = 1, 2 ^ 18 do t[i * 524287] = true end
t.more = true
