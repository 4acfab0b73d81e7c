-- Replacements within replacements.
--! ends: lua.stack lua.runtime
local function f() return ("x"):gsub("x", f) end
f()
