-- Bytecode read in pieces.
--! ends: lua.runtime
--! says: binary
--! not in trusted: trusted loads bytecode as Lua does
local pieces, i = { "\27", "Lua", "\x54\0" }, 0
assert(load(function() i = i + 1 return pieces[i] end))
