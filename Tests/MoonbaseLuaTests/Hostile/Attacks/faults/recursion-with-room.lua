-- Endless recursion, with memory for all of Lua's stack.
--! ends: lua.stack
--! with: memory=256M instructions=100M
local function f() return 1 + f() end
f()
