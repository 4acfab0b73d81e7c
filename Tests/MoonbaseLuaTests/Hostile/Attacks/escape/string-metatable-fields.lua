-- CVE-2025-46818: the fields of the string metatable, by every function.
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
assert(not getmetatable(""))
assert(not pcall(setmetatable, "", {}))
assert(not pcall(rawset, "", "x", 1))
assert(not pcall(function() ("").upper = 1 end))
