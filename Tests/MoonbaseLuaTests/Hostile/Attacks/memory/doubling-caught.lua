-- A text that doubles, with each failure caught.
--! ends: lua.limit.memory lua.limit.instructions
while true do pcall(function() local s = "x" while true do s = s .. s end end) end
