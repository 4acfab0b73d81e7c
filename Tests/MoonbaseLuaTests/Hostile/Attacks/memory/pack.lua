-- A packed size that overflows.
--! ends: lua.runtime lua.limit.instructions
return string.packsize(("i16"):rep(1 << 18) .. "c2147483647")
