-- Endless output under pcall.
--! ends: lua.limit.output lua.limit.instructions
--! timed
--! not in trusted: trusted writes by C's streams, which nobody counts
while true do pcall(print, ("x"):rep(1000)) end
