-- A collection in every iteration.
--! ends: lua.limit.instructions
--! timed
while true do collectgarbage() end
