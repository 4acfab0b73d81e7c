-- Calls deeper than the host allows.
--! ends: lua.limit.callDepth
--! with: callDepth=1000 memory=256M
local function f() return 1 + f() end
while true do pcall(f) end
