-- Host and script call each other until the stack is exhausted.
--! ends: lua.ok lua.stack lua.runtime lua.limit.callDepth
local function f() nest(f) end
f()
