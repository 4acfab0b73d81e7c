-- Each character replaced by many.
--! ends: lua.limit.memory lua.limit.instructions
return ("x"):rep(10000):gsub("x", ("y"):rep(10000))
