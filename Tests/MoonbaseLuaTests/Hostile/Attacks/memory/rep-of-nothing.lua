-- The empty text, repeated practically without end.
--! ends: lua.ok
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
return (""):rep(1 << 62)
