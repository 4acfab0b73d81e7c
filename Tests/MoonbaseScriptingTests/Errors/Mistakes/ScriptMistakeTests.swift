import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Messages for a newcomer's mistakes with scripts: the line, the name, and the correction.
///
/// The table is `Tables/scripts.txt`.
@Suite struct ScriptMistakeTests {
  @Test func eachMistakeIsToldWithItsLineAndWhatToWrite() throws {
    let table = try MistakeTable("scripts")
    #expect(table.entries.count > 300)
    let bench = try ScriptBench()
    for entry in table.entries {
      let outcome = try bench.run("local context = moonbase.context\n\(entry.code)")
      let message = outcome.message ?? ""
      #expect(outcome.status == 1 && message.hasPrefix("script.lua:2: "), "\(entry.code)\n\(outcome)")
      #expect(!entry.words.isEmpty && entry.words.allSatisfy(message.contains), "\(entry.code)\n\(message)")
    }
  }

  /// Messages for scripts contain no names of the host's Swift code.
  @Test func noMessageSpeaksSwift() throws {
    for entry in try MistakeTable("scripts").entries {
      let words = entry.words.joined(separator: " ").matches(of: #/\b[a-z]+[A-Z]\w*/#).map { String($0.output) }
      let known: Set = [
        "firstName", "lastName", "fistName", "favoriteColor", "boundsAsString", "fullName", "olderThen", "olderThan",
        "firstname", "isOne", "afterr", "lastNam",
      ]
      #expect(words.allSatisfy(known.contains), "\(entry.code): \(words)")
    }
  }
}
