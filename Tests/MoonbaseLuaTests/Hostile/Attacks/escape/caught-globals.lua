-- The script's own pcall catches no limit either.
--! ends: lua.limit.instructions
--! not in trusted: trusted has one script's world only
local real = pcall
pcall = function(...) real(...) return true end
error = function() end
while true do pcall(function() while true do end end) end
