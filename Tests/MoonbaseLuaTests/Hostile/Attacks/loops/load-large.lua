-- The parser runs no hook: large sources are loaded repeatedly.
--! ends: lua.limit.instructions
--! timed
local source = ("x = 1 "):rep(10000)
while true do load(source) end
