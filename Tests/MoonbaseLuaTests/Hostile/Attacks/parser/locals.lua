-- More local variables than there are registers.
--! ends: lua.runtime
--! says: too many local variables
assert(load(("local a "):rep(300)))
