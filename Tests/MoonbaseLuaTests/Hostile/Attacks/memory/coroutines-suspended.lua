-- Suspended coroutines that are kept.
--! ends: lua.limit.coroutines lua.limit.memory
--! with: instructions=1M
local t = {}
while true do
  local co = coroutine.wrap(function() local a, b, c = 1, 2, 3 coroutine.yield() return a, b, c end)
  co()
  t[#t + 1] = co
end
