import MoonbaseGraph
import MoonbasePlatform
import MoonbaseScripting

/// The results of tests in the JUnit format, for other programs.
///
/// A file is a test suite, and each test is a test case of it. Most services for continuous
/// integration show this format.
struct JUnitReport {
  /// The results to write.
  private let results: TestResults

  /// Creates the report, which `write` writes.
  ///
  /// - Parameter results: The results of all files.
  init(_ results: TestResults) { self.results = results }

  /// Writes the file, and replaces an existing file.
  ///
  /// - Throws: `.cannotOpenFile` if the file cannot be written.
  func write(to path: String) throws {
    let file = try OutputDestination(file: path, replacing: true)
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
    try file.finish()
  }

  /// The XML document.
  private var text: String {
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuites tests=\"\(results.count)\" failures=\"\(results.failureCount)\" time=\"\(Self.seconds(results.seconds))\">",
    ]
    for file in results.files { lines += suite(file) }
    return (lines + ["</testsuites>", ""]).joined(separator: "\n")
  }

  /// The lines of a test file.
  private func suite(_ file: TestResults.File) -> [String] {
    let failures = file.results.count { !$0.isPassed }
    let seconds = file.results.reduce(0) { $0 + $1.duration.seconds }
    let head =
      "  <testsuite name=\"\(Self.escaped(file.path))\" tests=\"\(file.results.count)\" failures=\"\(failures)\" "
      + "time=\"\(Self.seconds(seconds))\">"
    return [head] + file.results.flatMap { testCase($0, in: file.path) } + ["  </testsuite>"]
  }

  /// The lines of a test.
  private func testCase(_ result: ScriptTests.Result, in path: String) -> [String] {
    let head =
      "    <testcase name=\"\(Self.escaped(result.name))\" classname=\"\(Self.escaped(path))\" "
      + "time=\"\(Self.seconds(result.duration.seconds))\""
    guard let failure = result.failure else { return ["\(head)/>"] }
    let text = Self.escaped(failure)
    let place = result.place.map { "\(Self.escaped($0)): " } ?? ""
    return ["\(head)>", "      <failure message=\"\(text)\">\(place)\(text)</failure>", "    </testcase>"]
  }

  /// A number of seconds with three decimals.
  private static func seconds(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

  /// Escaped text for XML. Characters that are not allowed in XML are replaced by the replacement character.
  private static func escaped(_ text: String) -> String {
    var known = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 && !"\n\t\r".unicodeScalars.contains(scalar)
      known.append(isControl || (0xFFFE...0xFFFF).contains(scalar.value) ? "\u{FFFD}" : scalar)
    }
    return String(known).markupText
  }
}
