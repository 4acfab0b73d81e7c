-- CVE-2022-33099: an error while an error is handled, with the stack full.
--! ends: lua.handler lua.stack lua.limit.memory lua.limit.instructions lua.runtime
local function f() return f() + 1 end
local function handler() return f() end
assert(xpcall(f, handler))
