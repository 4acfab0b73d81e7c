-- Endless recursion.
--! ends: lua.stack lua.limit.memory
--! with: instructions=1M
local function f() return 1 + f() end
f()
