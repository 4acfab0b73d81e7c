-- CVE-2025-46818: the metatable that all texts share.
--! ends: lua.runtime
--! not in trusted: trusted has one script's world only
getmetatable("").__index = { upper = function() return "stolen" end }
