-- A false length: more results than the stack holds.
--! ends: lua.runtime
--! says: too many results
return table.unpack(setmetatable({}, { __len = function() return 2 ^ 60 // 1 | 0 end }))
