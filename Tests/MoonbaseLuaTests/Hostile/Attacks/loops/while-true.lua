-- A loop without end.
--! ends: lua.limit.instructions
--! timed
while true do end
