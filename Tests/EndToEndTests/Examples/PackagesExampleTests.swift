import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct PackagesExampleTests {
  let bench: Workbench
  static let script = Workbench.checkout.appendingPathComponent("lua/examples/packages/import.lua").path

  init() throws {
    bench = try Workbench()
  }

  /// Four valid records, and one for each reason to skip a record.
  static let index = """
    Package: alpha
    Version: 1:2.0-1
    Section: games
    Maintainer: Captain Scarlet <Scarlet@Example.org>
    Installed-Size: 100
    Size: 1000
    Depends: libone (>= 1.0), libtwo | libthree, virtual-thing
    Description: the first
     with a second line: of text

    Package: libone
    Version: 1.0~rc1-2
    Section: libs
    Maintainer: Nobody
    Installed-Size: 20
    Size: 200

    Package: libtwo
    Version: 2
    Section: libs
    Maintainer: Captain Scarlet <scarlet@example.org>
    Pre-Depends: libone
    Size: 300

    Version: 1
    Size: 1

    Package: noversion
    Size: 1

    Package: badversion
    Version: not a version

    Package: badsize
    Version: 1
    Size: much

    Package: Upper
    Version: 1

    this line says nothing

    Package: libone
    Version: 0.9
    Size: 7
    """

  @Test func goodRecordsAreImportedAndBadOnesReportedWithTheirLine() throws {
    let run = try bench.moonbase(["run", Self.script, "-"], input: Self.index)
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("3 packages, 3 dependencies, 6 records skipped: "))
    for line in [25, 28, 31, 34, 38, 41] {
      #expect(run.complaints.contains("standard input:\(line): record skipped: "), "line \(line)")
    }
    #expect(run.complaints.contains("'Upper'") || run.complaints.contains("\"Upper\""))
    // No progress bar in a pipe.
    #expect(!run.complaints.contains("\r"))
  }

  @Test func recordsThatNobodyWantedAreSkippedNotFatal() throws {
    var index = Data("Package: ab\r\nVersion: 1\r\nMaintainer: \r\n\r\nPackage: cd\r\nVersion: 2\r\n".utf8)
    try index.write(to: bench.file("windows.txt"))
    let windows = try bench.moonbase("run", Self.script, "windows.txt")
    #expect(windows.output.hasPrefix("2 packages, 0 dependencies, 0 records skipped: ") && windows.complaints == "")
    index = Data("Package: ef\nVersion: 1\nDescription: caf".utf8) + [0xE9] + Data("\n\nPackage: gh\nVersion: 2\n".utf8)
    try index.write(to: bench.file("latin.txt"))
    let latin = try bench.moonbase("run", Self.script, "latin.txt")
    #expect(latin.status == 0 && latin.output.hasPrefix("1 packages, 0 dependencies, 1 records skipped: "))
    #expect(latin.complaints == "latin.txt:1: record skipped: ef: its Description is not UTF-8\n")
    let nowhere = try bench.moonbase("run", Self.script, "nowhere.txt")
    #expect(nowhere.status == 1 && nowhere.complaints.hasPrefix("nowhere.txt: "))
    #expect(!nowhere.complaints.contains("traceback"))
  }

  @Test func theQuestionsAreAnswered() throws {
    let output = try bench.moonbase(["run", Self.script, "-"], input: Self.index).output
    #expect(output.contains("games                         1 packages"))
    #expect(output.contains("Packages without a maintainer's e-mail: 1\n\n  libone                           Nobody\n"))
    #expect(output.contains("libone                   1.0~rc1-2                     2\n"))
  }

  @Test func theExampleFindsEverythingInPlaceWhenItRunsAgain() throws {
    _ = try bench.moonbase(["run", Self.script, "-"], input: Self.index)
    let before = try dump()
    try bench.write(Self.index, to: "index.txt")
    #expect(try bench.moonbase("run", Self.script, "index.txt").status == 0)
    #expect(try dump() == before)
    #expect(before.hasPrefix("alpha|1:2.0-1|2|"))
  }

  @Test func theExampleSaysHowToCallItWithoutAnInput() throws {
    let run = try bench.moonbase("run", Self.script)
    #expect(run.status == 2)
    #expect(run.complaints.hasPrefix("usage: import.lua"))
  }

  /// The packages with their versions, dependency counts and row versions.
  private func dump() throws -> String {
    try bench.program(
      "sqlite3", "moonbase-packages.sqlite",
      """
      SELECT ZNAME, CAST(ZVERSION AS TEXT), \
      (SELECT count(*) FROM Z_2DEPENDENCIES WHERE Z_2DEPENDENTS = Z_PK), Z_OPT FROM ZPACKAGE ORDER BY ZNAME
      """
    ).output
  }
}
