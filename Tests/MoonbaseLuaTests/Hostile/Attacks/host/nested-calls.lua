-- Host and script call each other until the stack says no.
--! ends: lua.ok lua.stack lua.runtime lua.limit.callDepth
local function f() nest(f) end
f()
