-- Operators that nest to the right.
--! ends: lua.runtime lua.stack
assert(load("return " .. ("a .. "):rep(10000) .. "a"))
