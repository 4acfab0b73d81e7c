-- A break out of a loop with a to-be-closed variable and a captured one (fixed in 5.4.5).
--! ends: lua.ok
for _ = 1, 100 do
  for i in next, { 1 }, nil, setmetatable({}, { __close = function() end }) do
    local f = function() return i end
    if f() then break end
  end
end
