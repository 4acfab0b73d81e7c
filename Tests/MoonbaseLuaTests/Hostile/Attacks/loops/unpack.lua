-- Unpacking a hundred thousand at every turn.
--! ends: lua.limit.instructions
--! timed
while true do table.unpack({}, 1, 1e5) end
