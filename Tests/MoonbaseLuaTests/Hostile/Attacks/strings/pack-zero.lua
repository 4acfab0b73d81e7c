-- A zero byte in a zero-terminated text.
--! ends: lua.ok
pcall(string.pack, "z", "a\0b")
pcall(string.unpack, "z", "abc")
pcall(string.unpack, "s8", "\xff\xff\xff\xff\xff\xff\xff\xff")
pcall(string.unpack, "s8", "\xff\xff\xff\xff\xff\xff\xff\x7f", 1)
