local text = require "moonbase.text"

local trims = {
  { "  a b \t\n", "a b" }, { "", "" }, { " ", "" }, { "\u{A0}é\u{3000}", "é" }, { "\u{2003}\u{2028}x\u{85}", "x" },
  { "a", "a" }, { "\u{FEFF}a", "\u{FEFF}a" }, { "\xC2", "\xC2" }, { " \xFF ", "\xFF" },
}

local splits = {
  { "a,b,,c", ",", nil, { "a", "b", "", "c" } }, { "", ",", nil, { "" } }, { ",", ",", nil, { "", "" } },
  { "a,b,,c", ",", { omit_empty = true }, { "a", "b", "c" } }, { "", ",", { omit_empty = true }, {} },
  { "a,b,c", ",", { limit = 2 }, { "a", "b,c" } }, { "a.b", ".", nil, { "a", "b" } },
  { "a1b22c", "%d+", { pattern = true }, { "a", "b", "c" } }, { "a::b", "::", nil, { "a", "b" } },
  { " the  quick\tbrown\n", nil, nil, { "the", "quick", "brown" } }, { "", nil, nil, {} },
  { "é\u{A0}ü\u{3000}x", nil, nil, { "é", "ü", "x" } }, { "a b c d", nil, { limit = 2 }, { "a", "b c d" } },
}

return {
  ["case beyond ASCII"] = function(t)
    t.equal(text.lower "ÀÉÎ STRASSE Σ", "àéî strasse σ")
    t.equal(text.upper "straße éü", "STRASSE ÉÜ")
    t.equal(text.title "captain scarlet", "Captain Scarlet")
    t.equal(text.fold "STRASSE", text.fold "straße")
    t.equal(text.fold("Ångström", "cd"), "angstrom")
    t.equal(text.fold("Ångström", "d"), "Angstrom")
    t.equal(text.fold "É", text.fold "e\u{301}")
    t.equal(#text.fold(("ßÉ"):rep(50000), "cd"), 150000)
    t.raises("none of", text.fold, "a", "x")
    t.raises("not UTF-8", text.lower, "\xFF")
  end,
  ["characters as readers count them"] = function(t)
    t.equal(text.length "e\u{301}🇩🇪👩‍👩‍👧", 3)
    t.equal(text.characters "e\u{301}x", { "e\u{301}", "x" })
    t.equal(text.characters "", {})
    t.equal({ text.sub("aéîb", 2, 3), text.sub("aéîb", -2), text.sub("abc", 2, 1), text.sub("abc", 0, 99) },
      { "éî", "îb", "", "abc" })
    t.equal(text.sub("abc", math.mininteger, math.maxinteger), "abc")
    t.equal(text.reverse "e\u{301}a", "ae\u{301}")
    t.equal(text.pad_start("é", 3) .. text.pad_end("é", 3, "·"), "  éé··")
    t.equal(text.truncate("abcdef", 4) .. text.truncate("abc", 4), "abc…abc")
  end,
  ["widths are kept"] = function(t)
    for width = 0, 7 do
      for _, ellipsis in ipairs { "", "…", "...", "a long one" } do
        local cut = text.truncate("hello", width, ellipsis)
        t.equal(text.length(cut), math.min(width, 5), ellipsis .. width)
      end
      t.equal(text.length(text.pad_start("é", width, "·")), math.max(1, width))
      t.equal(text.length(text.pad_end("é", width)), math.max(1, width))
    end
    t.equal({ text.truncate("hello", 0), text.truncate("hello", 1) }, { "", "h" })
    t.equal(text.truncate("hello", 2, "..."), "he")
    t.equal({ text.truncate("hello", 4, "..."), text.truncate("hello", 5, "...") }, { "h...", "hello" })
    t.raises("a width is at least 0", text.truncate, "hello", -1)
    t.raises("integer expected, got 1.5, which is a float", text.truncate, "hello", 1.5)
    t.raises("one character expected, got 2", text.pad_start, "7", 4, "ab")
    t.raises("one character expected, got 0", text.pad_end, "x", 5, "")
    t.raises("bad argument #1 to 'pad_start' (string expected", text.pad_start, nil, 5)
  end,
  ["normal forms"] = function(t)
    t.equal(text.normalize "e\u{301}", "é")
    t.equal(text.normalize("é", "NFD"), "e\u{301}")
    t.equal(#text.normalize(("é"):rep(100000), "NFD"), 300000)
    t.equal(text.normalize("ﬁ", "NFKC"), "fi")
    local marks = ("\u{301}\u{316}"):rep(10000)
    t.equal(text.normalize("e" .. marks, "NFD"), "e" .. ("\u{316}"):rep(10000) .. ("\u{301}"):rep(10000))
    t.raises("none of NFC", text.normalize, "a", "NFX")
    t.equal({ text.is_valid "é", text.is_valid "\xFF", text.repair "a\xFFb" }, { true, false, "a\u{FFFD}b" })
  end,
  ["the order of a dictionary"] = function(t)
    t.equal({ text.compare("a", "B"), text.compare("é", "f"), text.compare("a10", "a9"), text.compare("a", "a") },
      { -1, -1, 1, 0 })
    t.equal(text.sort { "b10", "Äpfel", "b9", "zebra", "apfel", "B1" },
      { "apfel", "Äpfel", "B1", "b9", "b10", "zebra" })
    local people = text.sort({ { n = "É" }, { n = "a" }, { n = "f" } }, function(p) return p.n end)
    t.equal({ people[1].n, people[2].n, people[3].n }, { "a", "É", "f" })
    t.equal({ text.compare("ö", "z", "de"), text.compare("ö", "z", "sv") }, { -1, 1 })
    t.raises("no locale", text.compare, "a", "b", "../etc")
    t.raises("no locale is named 'xx_nope'", text.compare, "a", "b", "xx_nope")
    t.equal({ text.compare("a", "b", "pt-BR"), text.compare("a", "b", "zh_Hant_TW") }, { -1, -1 })
    t.raises("bad argument #1 to 'sort' (element 2 is a number, not a string)", text.sort, { "a", 1, true })
    t.raises("the key of element 1 is nil", text.sort, { {} }, function(e) return e.name end)
  end,
  ["comparison with options"] = function(t)
    t.equal({ text.equals("Café", "CAFE", "cd"), text.equals("Café", "cafe", "c"), text.equals("a", "a") },
      { true, false, true })
    t.equal({ text.contains("a.b", "."), text.contains("GRÖSSE", "größe", "c"), text.contains("a", "b") },
      { true, true, false })
    t.equal({ text.starts_with("Élan", "el", "cd"), text.starts_with("abc", "b"), text.starts_with("a", "") },
      { true, false, true })
    t.equal({ text.ends_with("abc", "bc"), text.ends_with("c", "abc"), text.ends_with("a", "") }, { true, false, true })
    t.raises("bad argument #2 to 'contains'", text.contains, "a")
  end,
  ["white space"] = function(t)
    for _, pair in ipairs(trims) do
      t.equal(text.trim(pair[1]), pair[2])
      t.equal(text.trim_end(text.trim_start(pair[1])), pair[2])
    end
    t.equal(text.trim_start "  a " .. text.trim_end "  a ", "a   a")
    t.equal({ text.is_blank " \u{A0}\n", text.is_blank "", text.is_blank "x" }, { true, true, false })
  end,
  ["parts"] = function(t)
    for _, case in ipairs(splits) do t.equal(text.split(case[1], case[2], case[3]), case[4], case[1]) end
    t.raises("at least one character", text.split, "a", "")
    t.raises("matches nothing at all", text.split, "abc", "x*", { pattern = true })
    t.raises("has no option", text.split, "a", ",", { max = 1 })
    local lines = {}
    for line in text.lines "a\nb\r\nc\rd\n\ne" do lines[#lines + 1] = line end
    t.equal(lines, { "a", "b", "c", "d", "", "e" })
    for _ in text.lines "" do error "no line" end
  end,
  ["replacement"] = function(t)
    t.equal(text.replace("a.b.c", ".", "%1"), "a%1b%1c")
    t.equal(text.replace("aaa", "a", "b", 2), "bba")
    t.raises("at least one character", text.replace, "a", "", "b")
    t.equal(("1+1=2"):find(text.escape "1+1"), 1)
  end,
  ["hostile texts take linear time"] = function(t)
    t.equal(text.trim(string.rep(" ", 200000) .. "x" .. string.rep(" ", 200000)), "x")
    t.equal(text.trim(string.rep(" x", 100000) .. " "), string.rep(" x", 100000):sub(2))
    t.equal(#text.split(string.rep(",", 50000), ","), 50001)
    t.equal(#text.split(string.rep("a ", 50000)), 50000)
    t.equal(#text.replace(string.rep("a", 50000), "a", "bb"), 100000)
    t.equal(text.length("e" .. string.rep("\u{301}", 50000)), 1)
  end,
}
