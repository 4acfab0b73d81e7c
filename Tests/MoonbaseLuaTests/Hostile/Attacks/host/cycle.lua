-- A table that holds itself, for a converter.
--! ends: lua.runtime
local t = {}
t[1] = t
tree(t)
