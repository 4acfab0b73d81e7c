-- The closing value of a loop never returns.
--! ends: lua.limit.instructions
--! timed
while true do
  pcall(function()
    local closing = setmetatable({}, { __close = function() while true do pcall(error) end end })
    for _ in function() return 1 end, nil, nil, closing do break end
  end)
end
