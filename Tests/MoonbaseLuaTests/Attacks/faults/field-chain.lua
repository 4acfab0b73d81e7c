-- A chain of fields in a failing expression overflows C's stack (Lua 5.4.4, fixed in 5.4.7): load has the source cap.
--! ends: lua.runtime
--! says: too large
--! not in trusted: trusted has the system library's load, which has no cap
local a = {}
a.x = a
assert(load("local a = ... return a" .. (".x"):rep(100000) .. " + 1"))(a)
