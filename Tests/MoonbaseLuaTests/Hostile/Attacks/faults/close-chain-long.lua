-- Coroutines that close coroutines, 20,000 deep.
--! ends: lua.ok lua.limit.memory
--! with: coroutines=200000 memory=256M instructions=100M
local last
for _ = 1, 20000 do
  local before = last
  last = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() if before then coroutine.close(before) end end })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
coroutine.close(last)
