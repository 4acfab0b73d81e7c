import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase manual` prints a page for `man`, and versions agree.
@Suite struct ManualTests {
  @Test func thePageHasEveryCommandAndNoWarnings() throws {
    let bench = try Workbench()
    let page = try bench.moonbase("manual")
    #expect(page.status == 0 && page.output.hasPrefix(".TH MOONBASE 1"), "\(page.complaints)")
    for name in ["run", "fetch", "model types", "completions"] {
      #expect(page.output.contains(".SS moonbase \(name)\n"), "\(name)")
    }
    #expect(page.output.contains("\\-\\-sandbox"))
    let sections = [
      "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "\"SEE ALSO\"",
    ]
    let places = sections.map { page.output.components(separatedBy: ".SH \($0)\n").first?.utf8.count ?? 0 }
    #expect(places == places.sorted() && Set(places).count == sections.count, "\(places)")
    #expect(!page.output.contains("OVERVIEW"))
    try bench.write(page.output, to: "moonbase.1")
    let formatted = try bench.program(
      "sh", "-c", "command -v groff > /dev/null || exit 0; groff -man -Tutf8 -ww -z moonbase.1")
    #expect(formatted.status == 0 && formatted.complaints == "", "\(formatted)")
  }

  @Test func theCommandAndScriptsTellTheSameVersion() throws {
    let bench = try Workbench()
    let command = try bench.moonbase("--version").output
    #expect(try bench.moonbase("run", "-e", "print(moonbase.version)").output == command)
  }
}
