-- CVE-2025-46817: the number of results overflows.
--! ends: lua.runtime
--! says: too many results
table.unpack({}, 1, 2 ^ 31 // 1 - 1 | 0)
