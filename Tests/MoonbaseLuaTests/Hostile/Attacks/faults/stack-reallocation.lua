-- CVE-2020-15888, 15889, 15945: stacks that grow and shrink while variables are open.
--! ends: lua.ok lua.limit.memory lua.limit.instructions
local function deep(n, ...) if n > 0 then return 1 + deep(n - 1, n, ...) end collectgarbage() return 0 end
for i = 1, 30 do
  local co = coroutine.wrap(function(...)
    local x <close> = setmetatable({}, { __close = function() deep(i) end })
    coroutine.yield(pcall(deep, i * 3, ...))
    return deep(i)
  end)
  co(table.unpack({}, 1, i * 10))
  co()
end
