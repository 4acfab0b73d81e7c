-- CVE-2021-44647, 44964, 45985: finalizers that run in the middle of calls; a sandbox has none.
--! ends: lua.ok lua.runtime
local function f() return setmetatable({}, { __gc = function(o) error(o) end }) end
for _ = 1, 200 do f() collectgarbage() end
