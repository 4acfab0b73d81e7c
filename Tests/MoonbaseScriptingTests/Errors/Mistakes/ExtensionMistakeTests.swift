import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Messages for a newcomer's mistakes with extensions: the line of the file, the name, and the correction.
///
/// The table is `Tables/extensions.txt`. Each entry is the second line of a file's table.
@Suite struct ExtensionMistakeTests {
  /// The message about a file: when it is loaded, when an attribute `x` is read, or at a save.
  private func message(_ line: String) throws -> String {
    let file = "return { name = 'x',\n \(line) }"
    // A file with its own transformer is loaded alone.
    let isAlone = line.contains("ColorTransformer")
    let bench: ScriptBench
    do { bench = try ScriptBench(extensions: [file] + (isAlone ? [] : [ScriptBench.colors])) } catch {
      return "\(error)"
    }
    let outcome = try bench.run(
      """
      local context = moonbase.context
      local p = context:insert('Person', { firstName = 'Ann', age = 3 })
      \(isAlone ? "p.favoriteColor = setmetatable({}, moonbase.classes.Color)" : "")
      \(line.contains(" x = ") ? "print(p.x)" : "")
      assert(context:save())
      """)
    return outcome.message ?? ""
  }

  @Test func eachMistakeIsToldWithItsLineAndWhatToWrite() throws {
    let table = try MistakeTable("extensions")
    #expect(table.entries.count > 70)
    for entry in table.entries {
      let message = try message(entry.code)
      #expect(message.contains("extension1.lua:2: "), "\(entry.code)\n\(message)")
      #expect(!entry.words.isEmpty && entry.words.allSatisfy(message.contains), "\(entry.code)\n\(message)")
    }
  }

  /// The message for a feature that extensions lack names the alternative, also in a program other than the command.
  @Test(arguments: [
    ("local f = io.open('x')", "extensions have no io"), ("moonbase.open {}", "extensions have no moonbase.open"),
    ("moonbase.background('x')", "extensions have no moonbase.background"),
    ("moonbase.context:save()", "object:context() is its context"), ("open('x')", "grants files by name"),
  ]) func whatAnExtensionLacksSaysWhatTakesItsPlace(_ code: String, _ words: String) throws {
    let error = #expect(throws: ScriptError.self) {
      try ScriptBench(extensions: ["\(code) return {}", ScriptBench.colors])
    }
    let message = try #require(error).message
    #expect(message.contains(words), "\(message)")
    guard !code.contains("context") else { return }
    let hook = "return { entities = { Person = { will_save = function()\n\(code) end } } }"
    let lines = try ScriptBench(extensions: [hook, ScriptBench.colors]).lines(
      "context:insert('Person') local ok, err = context:save() print(ok, err)", leavingChanges: true)
    #expect(lines[0].contains("extension1.lua:2: ") && lines[0].contains(words), "\(lines)")
  }
}
