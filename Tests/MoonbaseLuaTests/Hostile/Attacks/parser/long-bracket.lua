-- CVE-2025-46819: a long bracket of very many levels.
--! ends: lua.runtime
assert(load("[" .. ("="):rep(90000)))
