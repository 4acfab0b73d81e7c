-- A message of a megabyte.
--! ends: lua.runtime
error(("x"):rep(1000000))
