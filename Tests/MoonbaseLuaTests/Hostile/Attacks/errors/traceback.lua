-- A traceback of functions with hostile names.
--! ends: lua.runtime
local env = setmetatable({}, { __index = _G })
local name = ("n"):rep(500)
assert(load("local function " .. name .. "() error('x') end " .. name .. "()", "=" .. ("\27[2J"):rep(100), "t", env))()
