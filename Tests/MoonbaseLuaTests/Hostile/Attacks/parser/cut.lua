-- A program cut off at each of its bytes.
--! ends: lua.ok
local source = [==[local a <const>, b <close> = 1, nil; for i = 1, 2 do goto e; ::e:: end return function(...) return {a = [[x]],
  ["b"] = 0x1p4, ...}, a // 2 ~ 3, "\u{48}\z
  ", not a, -b, #"x" end, ... -- end]==]
for i = 0, #source do load(source:sub(1, i)) end
