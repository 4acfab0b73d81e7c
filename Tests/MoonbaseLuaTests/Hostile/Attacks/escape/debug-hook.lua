-- A hook of its own would push the host's out.
--! ends: lua.runtime lua.limit.instructions
--! not in trusted: trusted has the debug library
debug.sethook()
while true do end
