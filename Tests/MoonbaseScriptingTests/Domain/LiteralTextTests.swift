import MoonbaseTestSupport
import Testing

/// Decimals and UUIDs that scripts give as text.
@Suite struct LiteralTextTests {
  @Test(arguments: StoreKind.allCases) func aDecimalThatWouldLoseDigitsIsRefused(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local nines = ("9"):rep(39)
      local p = context:insert("Person")
      print(pcall(moonbase.decimal, nines))
      print(pcall(moonbase.decimal, "."))
      print(pcall(function() return moonbase.decimal("1") + nines end))
      print(pcall(function() p.salary = nines end))
      print(p.salary)
      p.salary = nines:sub(2)
      context:save()
      context:refresh(p, false)
      print(p.salary)
      """)
    try #require(lines.count == 6, "\(lines)")
    let nines = String(repeating: "9", count: 39)
    #expect(
      lines[0].contains("bad argument #1 to 'decimal' ('\(nines)' does not fit exactly: a decimal keeps 38 digits"))
    #expect(lines[1].contains("bad argument #1 to 'decimal' ('.' is no decimal)"))
    #expect(lines[2].contains("does not fit exactly"))
    #expect(lines[3].contains("Person.salary") && lines[3].contains("the text does not fit exactly"))
    #expect(lines[4] == "nil" && lines[5] == nines.dropLast())
  }

  @Test func aUUIDHasNothingBehindIt() throws {
    let lines = try ScriptBench().lines(
      """
      local text = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
      local p = context:insert("Person")
      print(moonbase.uuid(text))
      print(pcall(moonbase.uuid, text .. "\\0garbage"))
      print(pcall(function() p.badge = text .. "\\0garbage" end))
      """, leavingChanges: true)
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[0] == "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
    #expect(lines[1].hasPrefix("false\tbad argument #1 to 'uuid' (a UUID such as "))
    #expect(lines[2].hasPrefix("false\t") && lines[2].contains("Person.badge"))
  }

  /// Also through `pcall`, which calls a function without its name.
  @Test func aFunctionOfMoonbaseIsNamedHoweverItIsCalled() throws {
    let lines = try ScriptBench().lines(
      """
      for _, f in ipairs { moonbase.decimal, moonbase.uri, moonbase.date.unix, moonbase.date.parse, moonbase.object.id } do
        print((select(2, pcall(f, {}))))
      end
      """)
    let names = ["decimal", "uri", "unix", "parse", "id"]
    try #require(lines.count == names.count, "\(lines)")
    for (line, name) in zip(lines, names) { #expect(line.hasPrefix("bad argument #1 to '\(name)' ("), "\(line)") }
  }
}
