-- A chain of fields in a failing expression overflows the C stack (Lua 5.4.4, fixed in 5.4.7): load refuses it.
--! ends: lua.runtime
--! says: chain of fields
--! not in trusted: trusted has the system library's load
local a = {}
a.x = a
assert(load("local a = ... return a" .. (".x"):rep(100000) .. " + 1"))(a)
