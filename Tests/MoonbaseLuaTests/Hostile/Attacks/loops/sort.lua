-- A comparison that never returns.
--! ends: lua.limit.instructions
--! timed
table.sort({ 1, 2, 3 }, function() while true do end end)
