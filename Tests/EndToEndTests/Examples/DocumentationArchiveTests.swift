import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `scripts/docs` builds the reference of all public names, and a warning fails it.
@Suite(.enabled(if: TestLength.isLong)) struct DocumentationArchiveTests {
  @Test func theReferenceIsBuiltWithoutWarnings() throws {
    let bench = try Workbench()
    let build = Workbench.command.deletingLastPathComponent().path
    let script = Workbench.checkout.appendingPathComponent("scripts/docs").path
    let run = try bench.program("env", "MOONBASE_BUILD=\(build)", script, bench.file("archives").path)
    #expect(run.status == 0, "\(run)")
    #expect(!(run.output + run.complaints).contains("warning:"), "\(run)")
    for page in [
      "Moonbase.doccarchive/data/documentation/moonbase/tutorial-swift.json",
      "Moonbase.doccarchive/data/documentation/moonbasegraph/managedobjectcontext.json",
      "MoonbaseLua.doccarchive/data/documentation/moonbaselua/lua-embedding.json",
    ] {
      #expect(FileManager.default.fileExists(atPath: bench.file("archives/\(page)").path), "\(page)")
    }
  }
}
