-- The same within one state, each failure caught.
--! ends: lua.ok lua.limit.callDepth lua.limit.instructions
local function f() pcall(nest, f) end
f()
