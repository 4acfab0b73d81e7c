import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The options for opening stores come from one table: `run`, which parses its command line itself, has the same
/// options as other commands.
@Suite struct StoreOptionTests {
  @Test func runAndOtherCommandsHaveTheSameOptionsAsFarAsTheyMeanSomething() throws {
    let bench = try Workbench()
    func help(_ command: String) throws -> String { try bench.moonbase(command, "--help").output }
    let (run, fetch, each) = (try help("run"), try help("fetch"), try help("each"))
    for option in ["--store", "--model", "--extension", "--busy-timeout", "--read-only"] {
      #expect([run, fetch, each].allSatisfy { $0.contains("  \(option)") }, "\(option)")
    }
    for option in ["--allow-cloudkit", "--keep-history", "--synchronous"] {
      #expect(
        run.contains("  \(option)") && each.contains("  \(option)") && !fetch.contains("  \(option)"), "\(option)")
    }
  }

  @Test func aStoreThatCloudKitMirrorsIsWrittenWhenThatIsAllowed() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)", in: "s.sqlite")
    let code = "moonbase.context:insert('Department') assert(moonbase.context:save())"
    let refused = try bench.moonbase("run", "--store", "s.sqlite", "-e", code)
    #expect(refused.status == 1 && refused.complaints.contains("--allow-cloudkit"), "\(refused)")
    #expect(try bench.moonbase("run", "--allow-cloudkit", "--store", "s.sqlite", "-e", code).status == 0)
  }

  @Test func aBusyStoreIsWaitedForAsLongAsToldAndNoLonger() throws {
    let bench = try Workbench.withPeople()
    let lock = try bench.lock("s.sqlite")
    let code = "moonbase.context:insert('Department') assert(moonbase.context:save())"
    let busy = try bench.moonbase("run", "--busy-timeout", "0", "--store", "s.sqlite", "-e", code)
    #expect(busy.status == 75, "\(busy)")
    lock.end()
    #expect(try bench.moonbase("run", "--busy-timeout", "60", "--store", "s.sqlite", "-e", code).status == 0)
    let refused = try bench.moonbase("run", "--busy-timeout", "-1", "-e", "")
    #expect(refused.status == 2 && refused.complaints.contains("--busy-timeout takes a number of seconds"))
  }

  @Test func aSaveIsSynchronizedAsTold() throws {
    let bench = try Workbench.withPeople()
    let code = "moonbase.context:insert('Department') assert(moonbase.context:save())"
    for level in ["normal", "full"] {
      #expect(try bench.moonbase("run", "--synchronous", level, "--store", "s.sqlite", "-e", code).status == 0)
    }
    let refused = try bench.moonbase("run", "--synchronous", "off", "-e", "")
    #expect(refused.status == 2 && refused.complaints.contains("--synchronous takes 'normal' or 'full', not 'off'"))
  }

  @Test func aLinkInACircleIsNoStoreThatIsMissing() throws {
    let bench = try Workbench()
    try FileManager.default.createSymbolicLink(
      atPath: bench.file("loop.sqlite").path, withDestinationPath: "loop.sqlite")
    let outcome = try bench.moonbase("run", "--store", "loop.sqlite", "-e", "")
    #expect(outcome.status == 1 && !outcome.complaints.contains("does not exist"), "\(outcome)")
  }
}
