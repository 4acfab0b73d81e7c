-- CVE-2025-46819: a closed long bracket of very many levels.
--! ends: lua.ok
assert(load("return [" .. ("="):rep(40000) .. "[x]" .. ("="):rep(40000) .. "]"))()
