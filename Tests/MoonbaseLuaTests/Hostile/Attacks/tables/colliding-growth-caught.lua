-- A growing table with colliding keys, tried repeatedly.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=64M
local t = {}
for i = 1, 2 ^ 18 do t[i * 524287] = true end
while true do
  pcall(rawset, t, -1, true)
  coroutine.wrap(function() t[-2] = true end)()
end
