-- A message handler that never returns.
--! ends: lua.limit.instructions
--! timed
xpcall(error, function() while true do end end)
