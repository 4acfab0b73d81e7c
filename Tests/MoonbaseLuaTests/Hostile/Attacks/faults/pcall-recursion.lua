-- pcall within pcall until the C stack is exhausted.
--! ends: lua.ok lua.stack lua.limit.memory lua.limit.instructions
local function f() pcall(f) end
f()
