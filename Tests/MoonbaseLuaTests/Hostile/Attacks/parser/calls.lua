-- A long chain of calls and indices.
--! ends: lua.ok
load("return a" .. (".b"):rep(5000) .. ("()"):rep(5000) .. ("[1]"):rep(5000))
