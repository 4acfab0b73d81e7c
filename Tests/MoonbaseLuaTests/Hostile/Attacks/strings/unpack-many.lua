-- Many results of one call are no recursion.
--! ends: lua.ok
--! with: instructions=5M memory=64M
--! not in trusted: trusted has the system library's function, and what grows a stack there looks as a circle of calls does
local count = 100000
assert(select("#", string.unpack(("B"):rep(count), ("x"):rep(count))) == count + 1)
assert(not pcall(string.unpack, ("B"):rep(count), "x"))
