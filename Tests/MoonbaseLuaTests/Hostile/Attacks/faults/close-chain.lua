-- Coroutines that close coroutines, 900 deep (Lua 5.4.4 ends the process at more; fixed in 5.4.5).
--! ends: lua.ok lua.limit.coroutines lua.limit.memory lua.limit.instructions
local last
for _ = 1, 900 do
  local before = last
  last = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() if before then coroutine.close(before) end end })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
coroutine.close(last)
