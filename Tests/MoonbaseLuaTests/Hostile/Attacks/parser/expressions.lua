-- More values at once than there are registers.
--! ends: lua.runtime lua.stack
assert(load("return " .. ("f("):rep(150) .. ("1,"):rep(300) .. "1" .. (")"):rep(150)))
