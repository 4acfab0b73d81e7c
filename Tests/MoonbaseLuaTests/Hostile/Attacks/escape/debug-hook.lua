-- A script's hook would replace the host's.
--! ends: lua.runtime lua.limit.instructions
--! not in trusted: trusted has the debug library
debug.sethook()
while true do end
