-- CVE-2021-32626: more results than Lua's stack holds.
--! ends: lua.stack lua.limit.memory lua.runtime
return select("#", many(2000000))
