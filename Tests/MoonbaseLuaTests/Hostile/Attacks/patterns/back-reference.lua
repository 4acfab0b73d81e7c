-- A capture compared at every position.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
return ("a"):rep(100000):find("(a*)%1b")
