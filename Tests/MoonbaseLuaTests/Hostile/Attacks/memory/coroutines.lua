-- Coroutines kept.
--! ends: lua.limit.coroutines
--! with: instructions=1M
local t = {}
while true do t[#t + 1] = coroutine.create(print) end
