-- Two gigabytes at once.
--! ends: lua.limit.memory lua.runtime
return ("x"):rep(2000000000)
