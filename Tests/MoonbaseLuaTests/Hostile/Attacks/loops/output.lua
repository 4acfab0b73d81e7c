-- Output without end.
--! ends: lua.limit.output lua.limit.instructions
--! timed
--! not in trusted: trusted writes by C's streams, which nobody counts
while true do print("x") end
