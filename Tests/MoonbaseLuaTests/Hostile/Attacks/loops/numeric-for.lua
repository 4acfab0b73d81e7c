-- A count to infinity.
--! ends: lua.limit.instructions
--! timed
for _ = 1, math.huge do end
