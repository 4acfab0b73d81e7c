-- A date format of a million items.
--! ends: lua.runtime
--! says: the format is too long
--! not in trusted: trusted has the system library's function
--! not in pure: there is no os
return os.date(("%c"):rep(1000000))
