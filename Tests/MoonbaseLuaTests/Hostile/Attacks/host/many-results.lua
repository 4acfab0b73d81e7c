-- CVE-2021-32626: a host function that returns very many values.
--! ends: lua.ok
assert(select("#", many(10)) == 10)
assert(select("#", many(100000)) == 100000)
