-- Functions within functions.
--! ends: lua.runtime lua.stack
assert(load(("return function() "):rep(1000) .. ("end "):rep(1000)))
