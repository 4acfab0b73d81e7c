-- Compiled functions kept.
--! ends: lua.limit.memory lua.limit.instructions
local t, source = {}, ("local x = {} "):rep(500)
while true do t[#t + 1] = load(source) end
