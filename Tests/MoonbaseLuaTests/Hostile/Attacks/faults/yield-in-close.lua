-- Yields out of __close handlers, and errors after them.
--! ends: lua.ok
local co = coroutine.wrap(function()
  pcall(function()
    local x <close> = setmetatable({}, { __close = function() coroutine.yield(1) error("x") end })
    error("y")
  end)
  return 2
end)
pcall(co) pcall(co) pcall(co)
