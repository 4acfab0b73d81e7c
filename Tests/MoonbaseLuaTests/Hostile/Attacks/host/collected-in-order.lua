-- CVE-2024-46981: handles in cycles, and in upvalues of functions that handlers hold.
--! ends: lua.ok
for i = 1, 200 do
  local o = make()
  local t = setmetatable({ o }, { __index = function() return o.name end, __close = function() return o.name end })
  t.self = t
  kept = coroutine.wrap(function() local x <close> = t coroutine.yield(o) end)
  kept()
end
