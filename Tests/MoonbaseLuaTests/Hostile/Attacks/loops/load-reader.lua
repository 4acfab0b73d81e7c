-- A reader function of load that never returns.
--! ends: lua.limit.instructions
--! timed
load(function() while true do end end)
