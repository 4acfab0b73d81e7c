-- Incomplete patterns are never read past their end.
--! ends: lua.ok
for _, p in ipairs { "%", "[", "[^", "[%", "[a-", "[]", "[^]", "%b", "%bx", "%f", "%f[", "(", ")", "(()", "%1", "(%1)", "()%1" } do
  for _, s in ipairs { "", "a", ("a"):rep(100), "]", "\0", "x]" } do
    pcall(string.find, s, p)
    pcall(string.match, s, p)
    pcall(string.gsub, s, p, "%1")
    pcall(function() for _ in s:gmatch(p) do end end)
  end
end
