-- Escapes that end too early or go too far.
--! ends: lua.ok
for _, s in ipairs { "\\", "\\x", "\\xg", "\\u", "\\u{", "\\u{FFFFFFFFFFFF}", "\\u{7FFFFFFF}", "\\999", "\\z", "\\q" } do
  load("return '" .. s)
  load("return '" .. s .. "'")
end
