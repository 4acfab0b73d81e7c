-- A __tostring that never returns, called by print.
--! ends: lua.limit.instructions
--! timed
print(setmetatable({}, { __tostring = function() while true do end end }))
