-- An error without a value.
--! ends: lua.runtime
error(nil)
