-- CVE-2021-43519: C's stack used up by coroutines in coroutines.
--! ends: lua.runtime lua.stack
local function f() pcall(1) coroutine.wrap(f)() end
f()
