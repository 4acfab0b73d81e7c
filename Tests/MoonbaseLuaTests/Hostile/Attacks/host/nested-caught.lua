-- Host and script call each other within one state, with each failure caught.
--! ends: lua.ok lua.limit.callDepth lua.limit.instructions
local function f() pcall(nest, f) end
f()
