-- The mode asks for bytecode.
--! ends: lua.runtime
--! says: binary
--! not in trusted: trusted loads bytecode as Lua does
assert(load("return 1", "x", "b"))
