-- A false length for sort.
--! ends: lua.runtime
--! says: array too big
table.sort(setmetatable({}, { __len = function() return 2 ^ 60 // 1 | 0 end }))
