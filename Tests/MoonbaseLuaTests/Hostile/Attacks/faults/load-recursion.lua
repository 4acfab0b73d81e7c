-- load within its own reader.
--! ends: lua.stack lua.runtime
local function f() return assert(load(f)) end
f()
