-- Raw writes to a library, which bypass __newindex.
--! ends: lua.runtime
--! says: frozen
--! not in trusted: trusted has one script's world only
rawset(string, "rep", function() return "stolen" end)
