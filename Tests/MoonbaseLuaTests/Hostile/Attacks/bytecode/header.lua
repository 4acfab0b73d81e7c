-- CVE-2015-4335, CVE-2018-1999023: bytecode written by hand.
--! ends: lua.runtime
--! says: binary
--! not in trusted: trusted loads bytecode as Lua does
assert(load("\27Lua\x54\0\x19\x93\r\n\x1a\n"))
