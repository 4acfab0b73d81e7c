-- xpcall with a handler around a loop, in a loop.
--! ends: lua.limit.instructions
--! timed
while true do xpcall(function() while true do end end, function(e) return e end) end
