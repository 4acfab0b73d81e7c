-- Calls deeper than the host allows, in a coroutine.
--! ends: lua.limit.callDepth
--! with: callDepth=1000 memory=256M
local function f() return 1 + f() end
while true do coroutine.resume(coroutine.create(f)) end
