-- A message that pretends to have a place.
--! ends: lua.runtime
error("other.lua:99999999999999999999: x", 0)
