-- pcall in pcall until C's stack says no.
--! ends: lua.ok lua.stack lua.limit.memory lua.limit.instructions
local function f() pcall(f) end
f()
