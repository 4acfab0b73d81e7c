-- Module names that would lead out of a folder.
--! ends: lua.ok
--! not in trusted: trusted has Lua's own require
for _, name in ipairs { "../../etc/passwd", "/etc/passwd", "a/../b", "a..b", ".", "..", "", "a\0b", "a b", "~", "a.", ".a", "a%2fb", ("a"):rep(300), "a\n" } do
  assert(not pcall(require, name), name)
end
assert(not pcall(require)) assert(not pcall(require, {})) assert(not pcall(require, nil))
