-- redis#11032: a table whose __index raises, for a converter.
--! ends: lua.ok
tree(setmetatable({ 1, 2, x = {} }, { __index = error, __len = error, __pairs = error }))
return setmetatable({}, { __index = error, __len = error })
