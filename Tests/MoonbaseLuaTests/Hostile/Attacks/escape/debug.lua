-- The debug library (luanti#3788, #8707).
--! ends: lua.runtime
--! not in trusted: trusted has the debug library
return debug.getregistry()
