-- A table that contains itself, for a converter.
--! ends: lua.runtime
local t = {}
t[1] = t
tree(t)
