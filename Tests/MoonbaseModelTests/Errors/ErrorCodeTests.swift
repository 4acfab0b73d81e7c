import MoonbaseModel
import MoonbasePlatform
import Testing

/// The register of error codes, the sources that use it, and the table in `docs/errors.md`.
@Suite struct ErrorCodeTests {
  private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static let register = "Sources/MoonbaseModel/Errors/ErrorCode.swift"

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: checkout.appendingPathComponent(path), encoding: .utf8)
  }

  /// The names and numbers of the register's source.
  private static func declared() throws -> [(name: String, number: Int)] {
    try text(register).matches(of: /static let (\w+) = Self\(rawValue: ([\d_]+)\)/).map { match in
      (String(match.1), try #require(Int(match.2.filter { $0 != "_" })))
    }
  }

  @Test func everyKindHasANumberOfItsOwn() throws {
    let codes = try Self.declared()
    #expect(codes.count > 40)
    #expect(Set(codes.map(\.number)).count == codes.count)
    #expect(Set(codes.map(\.name)).count == codes.count)
  }

  @Test func numbersAreGivenOutInOnePlace() throws {
    let sources = Self.checkout.appendingPathComponent("Sources").path
    let paths = try #require(FileManager.default.enumerator(atPath: sources)).compactMap { $0 as? String }
    let others = try paths.filter { $0.hasSuffix(".swift") && "Sources/\($0)" != Self.register }.filter { path in
      let text = try Self.text("Sources/\(path)")
      return text.contains(
        /extension (\w+Error\.Code|ErrorCode)\b[^{]*{\s*(\/\/\/[^\n]*\s*)*public static let \w+ = Self\(rawValue: \d/)
    }
    #expect(paths.count > 300 && others == [])
  }

  @Test func theTableInDocsListsEachWithWhatItDoesInScripts() throws {
    let lines = try Self.text("docs/errors.md").matches(of: /(?m)^\| (\d+) \| `(\w+)` \| .* \| (.+) \|$/)
    let table = lines.map { "\($0.1) \($0.2) \($0.3)" }
    let codes = try Self.declared().sorted { $0.number < $1.number }.map { code in
      let kind = ErrorCode(rawValue: code.number)
      return "\(code.number) \(code.name) \(kind.isMistake ? "raises" : kind.endsRun ? "ends the run" : "`nil, err`")"
    }
    #expect(table == codes)
  }

  @Test func theDocumentHasASectionForEachInTheOrderOfTheTable() throws {
    let headings = try Self.text("docs/errors.md").matches(of: /(?m)^### (.+)$/).map { String($0.1) }
    let codes = try Self.declared().sorted { $0.number < $1.number }
    #expect(headings == codes.map { "\($0.number) \($0.name)" })
  }

  @Test func eachCodePrintsItsName() throws {
    for code in try Self.declared() {
      #expect("\(ErrorCode(rawValue: code.number))" == "\(code.name) (\(code.number))")
    }
    #expect("\(ErrorCode(rawValue: 7))" == "7" && ErrorCode(rawValue: 7).name == nil)
  }

  /// A mistake of the program, invalid data and a broken extension have different codes.
  @Test func whatIsWrongIsToldApart() {
    #expect(ErrorCode.numberTooLarge.isValidation && !ErrorCode.numberTooLarge.isMistake)
    #expect(ErrorCode.multipleErrors.isValidation && ErrorCode.validation.isValidation)
    #expect(ErrorCode.unknownName.isMistake && !ErrorCode.unknownName.isValidation)
    #expect(!ErrorCode.extensionFailure.isMistake && !ErrorCode.extensionFailure.isValidation)
    #expect(!ErrorCode.mergeConflict.isMistake && !ErrorCode.mergeConflict.isValidation)
  }

  @Test func aNumberOfARuleItselfIsNoMistakeOfTheProgram() {
    #expect(!ErrorCode(rawValue: 7).isMistake)
  }
}
