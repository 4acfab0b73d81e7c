-- The longest chain that is accepted, at the end of 150 nested calls of C functions.
--! ends: lua.runtime
--! says: arithmetic
--! not in trusted: trusted has the system library's load
local a = {}
a.x = a
local f = assert(load("local a = ... return a" .. (".x"):rep(199) .. " + 1"))
local function down(n) if n == 0 then f(a) end ("x"):gsub("x", function() down(n - 1) end) end
down(150)
