-- Many references to one text, put together.
--! ends: lua.limit.memory
local t, s = {}, ("x"):rep(100000)
for i = 1, 1000 do t[i] = s end
return table.concat(t)
