-- A loop over a coroutine that catches the error that should end it, and loops that never reach their second step.
--! ends: lua.limit.instructions
--! timed
pcall(function()
  for _ in coroutine.wrap(function()
    while true do pcall(function() while true do coroutine.yield(1) end end) end
  end) do
    pcall(function() for _ in coroutine.wrap(function() while true do pcall(error) end end) do end end)
  end
end)
