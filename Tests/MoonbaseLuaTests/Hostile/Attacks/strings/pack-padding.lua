-- A packed text padded to gigabytes.
--! ends: lua.limit.memory
return string.pack("c2000000000", "x")
