-- Closing within closing.
--! ends: lua.stack lua.runtime lua.limit.instructions
local mt = {}
mt.__close = function() local x <close> = setmetatable({}, mt) end
local x <close> = setmetatable({}, mt)
