-- Tables within tables.
--! ends: lua.runtime lua.stack
assert(load("return " .. ("{"):rep(1000) .. ("}"):rep(1000)))
