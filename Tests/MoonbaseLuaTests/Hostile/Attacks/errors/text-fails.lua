-- redis#11032: an error value whose text raises an error.
--! ends: lua.runtime
error(setmetatable({}, { __tostring = function() error() end }))
