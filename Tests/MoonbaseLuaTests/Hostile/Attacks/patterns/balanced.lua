-- Brackets that are never closed.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
return ("("):rep(200000):gsub("%b()", "")
