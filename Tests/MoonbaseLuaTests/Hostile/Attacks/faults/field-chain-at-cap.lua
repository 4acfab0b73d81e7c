-- The longest chain below the cap: its search takes seconds and ignores hooks.
--! ends: lua.runtime
--! says: chain of fields
--! not in trusted: trusted has the system library's load
local a = {}
a.x = a
assert(load("local a = ... return a" .. (".x"):rep(48000) .. " + 1"))(a)
