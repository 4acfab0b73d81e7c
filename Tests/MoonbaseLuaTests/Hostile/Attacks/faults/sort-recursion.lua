-- Sorting within sorting.
--! ends: lua.stack lua.runtime
local function f() table.sort({ 1, 2, 3 }, f) end
f()
