-- Many long texts as keys.
--! ends: lua.limit.instructions lua.limit.memory
--! timed
local t = {}
while true do t[("x"):rep(100) .. #t] = true; t[#t + 1] = 1 end
