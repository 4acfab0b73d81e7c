import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// What a newcomer reads after the mistakes of the first day with scripts: the line, the thing, and what to write.
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

  /// No message speaks of the host's own names to a script.
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
