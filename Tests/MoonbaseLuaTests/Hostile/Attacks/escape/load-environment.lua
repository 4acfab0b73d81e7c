-- load uses no environment other than the script's (overlunky#438).
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
assert(load("return _G")() == _G)
assert(load("return _ENV")() == _G)
assert(load("return _ENV", "x", "t", nil)() == nil)
local env = {}
assert(load("return _ENV", "x", "t", env)() == env)
assert(load("return pcall, _G", "x", "t", env)() == nil)
