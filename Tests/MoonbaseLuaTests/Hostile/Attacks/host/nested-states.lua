-- Each call makes a new state, so no state reaches its own limit.
--! ends: lua.limit.callDepth
--! with: instructions=100M memory=16M
local code = "local code = ... fresh(code, code)"
fresh(code, code)
