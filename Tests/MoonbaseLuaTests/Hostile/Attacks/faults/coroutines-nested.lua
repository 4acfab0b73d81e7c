-- CVE-2021-43519: the C stack is exhausted by coroutines in coroutines.
--! ends: lua.runtime lua.stack
local function f() pcall(1) coroutine.wrap(f)() end
f()
