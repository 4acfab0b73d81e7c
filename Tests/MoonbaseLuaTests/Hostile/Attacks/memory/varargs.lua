-- CVE-2014-5461: very many variable arguments.
--! ends: lua.ok
--! with: memory=64M instructions=5M
local function f(...) return select("#", ...) end
for n = 1, 100000, 9999 do assert(f(table.unpack({}, 1, n)) == n) end
