-- The parser has no hook: large sources, again and again.
--! ends: lua.limit.instructions
--! timed
local source = ("x = 1 "):rep(10000)
while true do load(source) end
