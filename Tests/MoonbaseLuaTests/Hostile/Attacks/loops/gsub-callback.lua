-- A replacement function that never returns.
--! ends: lua.limit.instructions
--! timed
string.gsub("x", "x", function() while true do end end)
