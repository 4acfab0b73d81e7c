-- os.exit cannot be swallowed, nor does it end the host.
--! ends: lua.exit
--! not in pure: there is no os
pcall(function() coroutine.wrap(function() os.exit(7) end)() end)
while true do end
