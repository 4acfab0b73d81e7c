-- A recursion of tail calls, which uses no stack.
--! ends: lua.limit.instructions
--! timed
local function f() return f() end
f()
