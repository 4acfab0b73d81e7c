-- A recursion of tail calls: no stack is used up.
--! ends: lua.limit.instructions
--! timed
local function f() return f() end
f()
