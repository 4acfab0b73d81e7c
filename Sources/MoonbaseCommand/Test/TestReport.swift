import MoonbasePlatform
import MoonbaseScripting

/// The results of tests, for programs to read: `moonbase test --json`.
struct TestReport: Encodable {
  struct Test: Encodable {
    let name: String
    let passed: Bool
    let failure: String?
    /// The position as file and line.
    let place: String?
    let seconds: Double
  }

  struct File: Encodable {
    let path: String
    let tests: [Test]
  }

  let passed: Int
  let failed: Int
  let seconds: Double
  let files: [File]

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
