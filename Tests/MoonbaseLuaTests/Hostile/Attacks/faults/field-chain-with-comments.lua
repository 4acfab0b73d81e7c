-- A chain of fields with comments, brackets and parentheses in between.
--! ends: lua.runtime
--! says: chain of fields
--! not in trusted: trusted has the system library's load
local a = {}
a.x = a
assert(load("local a, x = ..., 'x' return " .. ("("):rep(150) .. "a" .. (".--[[]]x --\n[x] ) . x"):rep(150) .. " + 1"))(a)
