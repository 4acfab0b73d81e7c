-- CVE-2022-0543: C libraries.
--! ends: lua.runtime
--! not in trusted: trusted has package.loadlib
return package.loadlib("liblua5.4.so.0", "luaopen_io")
