-- Errors caught without end.
--! ends: lua.limit.instructions
--! timed
repeat local ok = pcall(error) until ok
