-- CVE-2025-46819: the same, closed.
--! ends: lua.ok
assert(load("return [" .. ("="):rep(40000) .. "[x]" .. ("="):rep(40000) .. "]"))()
