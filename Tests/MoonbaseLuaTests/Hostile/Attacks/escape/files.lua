-- No access to files or processes beyond the host's grants.
--! ends: lua.ok
--! not in trusted: trusted has all of io and os
assert(not dofile and not loadfile and not loadstring and not io)
for _, name in ipairs { "execute", "remove", "rename", "tmpname", "setlocale" } do assert(not os or not os[name]) end
assert(not os or os.getenv("PATH") == nil)
