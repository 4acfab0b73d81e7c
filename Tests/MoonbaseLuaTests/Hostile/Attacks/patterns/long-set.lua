-- A set whose every letter is compared at every position of a text.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
for _, pattern in ipairs { "%f[" .. ("b"):rep(30000) .. "]", "^.-[" .. ("b"):rep(30000) .. "]-x" } do
  pcall(string.find, ("a"):rep(1000000), pattern)
end
for _ in ("a"):rep(1000000):gmatch("%f[" .. ("b"):rep(30000) .. "]") do end
