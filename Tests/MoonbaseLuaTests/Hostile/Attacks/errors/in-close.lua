-- An error in each of many __close handlers.
--! ends: lua.runtime
local mt = { __close = function(_, e) error(setmetatable({}, { __tostring = function() return tostring(e) .. "x" end })) end }
local function f(n) local x <close> = setmetatable({}, mt) if n > 0 then f(n - 1) end error("end") end
f(50)
