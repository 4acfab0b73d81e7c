import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct ColorsExampleTests {
  let bench: Workbench
  static let script = Workbench.checkout.appendingPathComponent("lua/examples/colors/paint.lua").path

  init() throws {
    bench = try Workbench()
  }

  @Test func theExampleImportsFetchesAndPaintsAndDoesSoAgain() throws {
    for _ in 1...2 {
      let run = try bench.moonbase("run", Self.script)
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("148 colours imported, 1 refused\n"))
      #expect(run.output.contains("lightskyblue     #87cefa       0.562   203°"))
      #expect(run.output.contains("store    moonbase-colors.sqlite\npicture  moonbase-colors.svg\n"))
      #expect(
        run.complaints.hasSuffix(
          "colors.csv:84: row lilacmist refused: hex \"#c8a2zz\" breaks its rule: "
            + "must be '#' and six hexadecimal digits, such as #1e90ff\n"))
      #expect(try bench.names() == ["moonbase-colors.sqlite", "moonbase-colors.svg"])
    }
    let rows = try bench.program(
      "sqlite3", "moonbase-colors.sqlite",
      "SELECT count(*), min(length(ZCOLOR)), max(length(ZCOLOR)) FROM ZNAMEDCOLOR")
    #expect(rows.output == "148|32|32\n")
    let blue = try bench.program(
      "sqlite3", "moonbase-colors.sqlite", "SELECT hex(ZCOLOR) FROM ZNAMEDCOLOR WHERE ZNAME = 'blue'")
    let (zero, one) = (String(repeating: "0", count: 16), "000000000000F03F")
    #expect(blue.output == zero + zero + one + one + "\n")
  }

  @Test func thePictureIsWellFormedAndShowsEveryColour() throws {
    _ = try bench.moonbase("run", Self.script)
    let picture = try XMLCheck(bench.bytes(of: "moonbase-colors.svg"))
    #expect(picture.root == "svg")
    #expect(picture.count("rect") == 149)
  }
}
