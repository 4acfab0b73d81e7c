-- A megabyte of operators in one expression: the parser takes minutes, and runs no hook.
--! ends: lua.ok
--! with: instructions=10M memory=64M
--! not in trusted: trusted has the system library's load
assert(not load("return " .. ("a or "):rep(200000) .. "b"))
assert(not load("return " .. ("(a and b) or "):rep(20000) .. "c"))
assert(not load("return " .. ("{ a = 1 } or "):rep(2500) .. "c"))
assert(not load("return " .. ("(function(a, b) if a then return b end end) or "):rep(2500) .. "c"))
