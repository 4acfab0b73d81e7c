-- Forty characters that keep Lua's own matcher for 24 seconds.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
return string.find(("a"):rep(40), ("a-"):rep(8) .. "b")
