-- A value called through a __call that is the value itself.
--! ends: lua.limit.callDepth
local t = setmetatable({}, {})
getmetatable(t).__call = t
while true do pcall(t) end
