-- Every byte of a long text at once.
--! ends: lua.ok lua.runtime lua.limit.memory
return select("#", string.byte(("x"):rep(200000), 1, -1))
