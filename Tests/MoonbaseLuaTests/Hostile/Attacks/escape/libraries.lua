-- CVE-2022-24735: a library that other scripts use.
--! ends: lua.runtime
--! says: frozen
--! not in trusted: trusted has one script's world only
string.rep = function() return "stolen" end
