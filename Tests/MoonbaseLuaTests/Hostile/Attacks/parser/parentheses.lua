-- 250 and more parentheses.
--! ends: lua.runtime lua.stack
assert(load("return " .. ("("):rep(1000) .. "1" .. (")"):rep(1000)))
