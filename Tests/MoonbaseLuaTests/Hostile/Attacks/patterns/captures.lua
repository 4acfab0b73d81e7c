-- More captures than there is room for.
--! ends: lua.runtime
--! says: too many captures
return ("a"):rep(100):find(("(a)"):rep(100))
