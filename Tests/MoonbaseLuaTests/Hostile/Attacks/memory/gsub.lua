-- Each character replaced by many.
--! ends: lua.limit.memory
return ("x"):rep(10000):gsub("x", ("y"):rep(10000))
