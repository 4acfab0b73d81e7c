-- A message that is no UTF-8 text.
--! ends: lua.runtime
error("\xff\xfe\0\x80", 0)
