import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The Swift code of README and guides compiles in packages with each default isolation.
@Suite struct IsolationSettingTests {
  private static let isolations = [[], ["-default-isolation", "MainActor"]]
  private static let closures = [[], ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"]]

  @Test(arguments: isolations, closures)
  func theGuidesCompileWithEachSetting(_ isolation: [String], _ closures: [String]) throws {
    let files = ["GuideTests", "GraphGuideTests", "ReadmeTourTests", "Documents", "Checkout"].map {
      Checkout.file("Tests/MoonbaseTests/Documents/\($0).swift")
    }
    let check = try CompileCheck(
      files: files,
      options: ["-parse-as-library", "-plugin-path", Self.resources() + "/host/plugins/testing"] + isolation + closures)
    #expect(check.succeeded, "\(check.output)")
  }

  /// The folder of the compiler's own files, which contains the macros of Swift Testing.
  private static func resources() throws -> String {
    struct Target: Decodable {
      struct Paths: Decodable { let runtimeResourcePath: String }
      let paths: Paths
    }
    let outcome = try ChildProcess.run(named: "swiftc", ["-print-target-info"])
    return try JSONDecoder().decode(Target.self, from: Data(outcome.output.utf8)).paths.runtimeResourcePath
  }
}
