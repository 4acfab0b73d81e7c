-- As long a chain as the cap lets pass: seconds in a search that looks at no hook.
--! ends: lua.runtime
--! says: chain of fields
--! not in trusted: trusted has the system library's load
local a = {}
a.x = a
assert(load("local a = ... return a" .. (".x"):rep(48000) .. " + 1"))(a)
