-- Unpacking a hundred thousand values in every iteration.
--! ends: lua.limit.instructions
--! timed
while true do table.unpack({}, 1, 1e5) end
