-- A jump back without end.
--! ends: lua.limit.instructions
--! timed
::again:: goto again
