-- A size that overflows.
--! ends: lua.runtime
--! says: too large
return ("xx"):rep(1 << 62, "yy")
