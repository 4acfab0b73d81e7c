-- coroutine.close runs a handler that never returns.
--! ends: lua.limit.instructions
--! timed
local co = coroutine.create(function()
  local x <close> = setmetatable({}, { __close = function() while true do end end })
  coroutine.yield()
end)
coroutine.resume(co)
coroutine.close(co)
