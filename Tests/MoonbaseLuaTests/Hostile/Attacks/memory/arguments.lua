-- CVE-2014-5461: more arguments than parameters, many times over.
--! ends: lua.stack lua.runtime lua.limit.memory
--! with: instructions=1M
local function f(a, b, c, d, e, ...) return select("#", ...) + f(a, b, c, d, e, ...) end
return f(table.unpack({}, 1, 200))
