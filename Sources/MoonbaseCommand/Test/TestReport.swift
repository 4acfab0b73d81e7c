import MoonbasePlatform
import MoonbaseScripting

/// The results of tests, for programs to read: `moonbase test --json`.
///
/// The keys are the names of the properties.
struct TestReport: Encodable {
  /// A test.
  struct Test: Encodable {
    /// The name of the test.
    let name: String
    /// Whether the test passed.
    let passed: Bool
    /// The message of the failure, or nil.
    let failure: String?
    /// The position as file and line.
    let place: String?
    /// The elapsed time.
    let seconds: Double
  }

  /// A file of tests.
  struct File: Encodable {
    /// The path of the file.
    let path: String
    /// The tests in the order of their execution.
    let tests: [Test]
  }

  /// The number of tests that passed.
  let passed: Int
  /// The number of tests that failed.
  let failed: Int
  /// The elapsed time of all tests.
  let seconds: Double
  /// The files in their order.
  let files: [File]

  /// Creates the report, in the order of the files.
  ///
  /// - Parameter results: The results of all files.
  init(_ results: TestResults) {
    (failed, passed) = (results.failureCount, results.count - results.failureCount)
    seconds = results.seconds
    files = results.files.map { file in
      File(
        path: file.path,
        tests: file.results.map {
          Test(
            name: $0.name, passed: $0.isPassed, failure: $0.failure, place: $0.place.map { "\($0)" },
            seconds: $0.duration.seconds)
        })
    }
  }
}
