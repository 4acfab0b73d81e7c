-- An error value with hostile fields in its metatable.
--! ends: lua.runtime
error(setmetatable({}, { __name = ("x"):rep(10000), __index = error, __len = error, __pairs = error, __metatable = error }))
