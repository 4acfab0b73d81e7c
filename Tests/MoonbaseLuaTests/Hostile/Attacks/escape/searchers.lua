-- CVE-2022-0543: manipulated searchers of require.
--! ends: lua.ok
--! not in trusted: trusted has Lua's own require
if package then
  package.path, package.cpath = "/etc/?;/usr/share/lua/5.4/?.lua", "/usr/lib/?.so"
  package.searchers[1] = function() return function() return "stolen" end end
  package.preload.x = function() return "stolen" end
  package.loaded.y = "stolen"
end
for _, name in ipairs { "x", "y", "passwd", "package", "_G", "ffi", "lpeg" } do assert(not pcall(require, name)) end
