-- CVE-2015-8080, CVE-2020-14147: sizes of packed integers.
--! ends: lua.runtime
string.pack("i" .. 2 ^ 31 // 1 | 0, 1)
