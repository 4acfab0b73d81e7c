-- A replacement with a capture that is not there.
--! ends: lua.runtime
--! says: invalid
return ("a"):gsub("a", "%9")
