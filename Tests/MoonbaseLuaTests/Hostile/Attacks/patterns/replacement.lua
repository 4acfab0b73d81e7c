-- A replacement with a missing capture.
--! ends: lua.runtime
--! says: invalid
return ("a"):gsub("a", "%9")
