-- Operators before operators.
--! ends: lua.runtime lua.stack
assert(load("return " .. ("not "):rep(10000) .. "1"))
