-- Blocks within blocks.
--! ends: lua.runtime lua.stack
assert(load(("do "):rep(1000) .. ("end "):rep(1000)))
