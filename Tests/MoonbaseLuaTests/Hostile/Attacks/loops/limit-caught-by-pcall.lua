-- pcall around a loop, in a loop: each pcall would swallow one limit error.
--! ends: lua.limit.instructions
--! timed
while true do pcall(function() while true do end end) end
