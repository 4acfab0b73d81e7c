import Foundation
import Moonbase
import MoonbaseTestSupport
import Testing

/// Names that Foundation also has: the spelling recommended in docs/guide.md compiles and means Moonbase's types.
@Suite struct SharedNameTests {
  @Test func theGuideNamesThem() throws {
    let guide = try Checkout.text("docs/guide.md")
    for name in ["Predicate", "Expression", "SortDescriptor", "ValueTransformer", "UndoManager"] {
      #expect(guide.contains("`\(name)`") && guide.contains("`Moonbase.\(name)`"), "\(name)")
    }
  }

  /// This file imports both.
  @Test func namesWithTheModuleAreMoonbases() throws {
    var request = FetchRequest("Person", where: try Moonbase.Predicate(format: "age > 20"))
    request.sortDescriptors = [Moonbase.SortDescriptor("age")]
    request.propertiesToFetch = [FetchColumn("n", expression: try Moonbase.Expression(format: "@count"))]
    let undo = Moonbase.UndoManager()
    #expect(undo.levelsOfUndo == 0 && request.sortDescriptors.count == 1)
    #expect("\(Moonbase.ValueTransformer.self)" == "ValueTransformer")
  }

  private static let imports = "import Foundation\nimport MoonbaseGraph\nimport MoonbaseModel\n"

  private static let body = """
    func fetch(in context: ManagedObjectContext) throws {
      var request = FetchRequest("Person", where: try Predicate(format: "age > 20"))
      request.sortDescriptors = [SortDescriptor("age")]
      request.propertiesToFetch = [FetchColumn("n", expression: try Expression(format: "@count"))]
      context.undoManager = UndoManager()
      _ = ValueTransformer.self
    }
    """

  @Test func importsOfSingleNamesSettleAFile() throws {
    let guide = try Checkout.text("docs/guide.md")
    let lines = guide.matches(of: #/`(import (?:enum|struct|class) \w+\.\w+)`/#).map { String($0.1) }
    #expect(lines.count == 5)
    let check = try CompileCheck(Self.imports + lines.joined(separator: "\n") + "\n" + Self.body)
    #expect(check.succeeded, "\(check.output)")
  }

  /// Foundation has an `UndoManager` on macOS only; on Linux a test module declares the same name.
  @Test func anUndoManagerBesideAnotherOneIsNamedWithItsModule() throws {
    let folder = try TemporaryFolder()
    try Data("public final class UndoManager { public init() {} }".utf8).write(to: folder.file("other.swift"))
    let outcome = try ChildProcess.run(
      named: "swiftc",
      [
        "-emit-module", "-module-name", "Elsewhere", "-parse-as-library", "-o",
        folder.file("Elsewhere.swiftmodule").path, folder.file("other.swift").path,
      ], environment: ["TMPDIR": folder.url.path])
    #expect(outcome.status == 0, "\(outcome.complaints)")
    let options = ["-I", folder.url.path]
    let imports = "import Elsewhere\nimport MoonbaseGraph\n"
    #expect(try !CompileCheck(imports + "func f() { _ = UndoManager() }", options: options).succeeded)
    for source in [
      "func f() { MoonbaseGraph.UndoManager().setActionName(\"x\") }",
      "import class MoonbaseGraph.UndoManager\nfunc f() { UndoManager().setActionName(\"x\") }",
    ] {
      let check = try CompileCheck(imports + source, options: options)
      #expect(check.succeeded, "\(check.output)")
    }
  }
}
