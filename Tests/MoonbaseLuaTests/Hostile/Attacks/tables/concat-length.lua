-- A false length, and elements made by a C function.
--! ends: lua.limit.instructions lua.limit.memory
--! timed
return table.concat(setmetatable({}, { __index = rawlen }), "", 1, 2 ^ 60 // 1 | 0)
