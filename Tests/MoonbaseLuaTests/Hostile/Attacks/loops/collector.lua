-- A collection at every turn.
--! ends: lua.limit.instructions
--! timed
while true do collectgarbage() end
