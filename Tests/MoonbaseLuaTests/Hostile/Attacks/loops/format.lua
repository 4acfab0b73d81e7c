-- Long numbers formatted without end.
--! ends: lua.limit.instructions
--! timed
while true do string.format("%99.99f", 1e300) end
