-- A pattern that nests too deep for the C stack.
--! ends: lua.runtime
--! says: pattern too complex
--! not in trusted: trusted has the system library's matcher, which has a bound of its own
return ("a"):rep(1000):find(("a?"):rep(1000) .. ("a"):rep(1000))
