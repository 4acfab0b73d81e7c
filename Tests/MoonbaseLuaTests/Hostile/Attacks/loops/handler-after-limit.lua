-- A message handler that would run after the limit error, where hooks are off.
--! ends: lua.limit.instructions
--! timed
xpcall(function() while true do end end, function() while true do end end)
