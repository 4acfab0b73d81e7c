-- A name and a number of many digits.
--! ends: lua.ok
load(("a"):rep(90000) .. " = 1")
load("return " .. ("9"):rep(90000))
load("return 0x" .. ("f"):rep(40000) .. "." .. ("f"):rep(40000) .. "p" .. ("9"):rep(9000))
