import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Extreme numbers in options, dates and sizes are reported and never trap.
@Suite struct ExtremeNumberTests {
  private static let numbers = [
    "-1", "0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e300", "nan", "inf",
    "17179869184G", "0.0000001",
  ]

  /// All options that take a number, each with a command.
  @Test(arguments: [
    "fetch Item --limit N", "export Item --limit N", "fetch Item --limit-time N", "history s.sqlite --limit N",
    "history s.sqlite --keep N", "history s.sqlite --keep-size N", "info s.sqlite --busy-timeout N",
    "each Item --do return --batch N", "each Item --do return --jobs N", "batch run j.lua --chunk N",
    "batch run j.lua --jobs N", "import Item i.csv --batch N", "run --limit-instructions N -e return",
    "run --limit-memory N -e return", "run --limit-source N -e return", "run --limit-time N -e return",
    "fetch Item --where n=$x --param x=N",
  ]) func noNumberEndsTheCommandByATrap(_ command: String) throws {
    let bench = try Workbench.withItems(2)
    try bench.write("n\n1\n", to: "i.csv")
    for number in Self.numbers {
      var words = command.split(separator: " ").map { String($0).replacing("=N", with: "=\(number)") }
      words = words.map { $0 == "N" ? number : String($0) }
      if !words.contains("s.sqlite") { words += ["--store", "s.sqlite"] }
      if words[0] == "run" { words = ["run", "--store", "s.sqlite"] + words[1..<(words.count - 2)] }
      let outcome = try bench.program("timeout", ["60", Workbench.command.path] + words)
      #expect((0...4).contains(outcome.status), "\(words): \(outcome)")
    }
  }

  /// The distance between dates centuries apart in nanoseconds exceeds an integer.
  @Test(arguments: [16_756_200_000, -9_000_000_000, 0]) func aFileOfAnyDateIsRead(_ seconds: Int) throws {
    let bench = try Workbench.withItems(2)
    for name in try bench.names() where name.hasPrefix("s.sqlite") {
      var times = [timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0)]
      utimes(bench.file(name).path, &times)
    }
    #expect(try bench.fetched("Item", "--count") == "2\n")
    #expect(try bench.moonbase("info", "s.sqlite").status == 0)
  }

  #if os(Linux)
    /// SQLite may allocate a value and leave no memory for its copy.
    @Test(arguments: [700, 1500, 2500, 4000]) func aValueForWhichThereIsNoRoomIsAnError(_ megabytes: Int) throws {
      let bench = try Workbench.withItems(2)
      for query in ["SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(500000000))"] {
        let outcome = try bench.moonbase(megabytes: megabytes, "sql", "s.sqlite", query, "--format", "csv")
        #expect(outcome.status == 1 && outcome.complaints.contains("s.sqlite"), "\(megabytes): \(outcome.complaints)")
      }
    }
  #endif
}
