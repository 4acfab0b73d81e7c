-- CVE-2025-46817 with the largest distance.
--! ends: lua.runtime
--! says: too many results
table.unpack({}, math.mininteger, math.maxinteger)
