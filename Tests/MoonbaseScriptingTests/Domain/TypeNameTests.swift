import MoonbaseLua
import MoonbasePlatform
import Testing

@testable import MoonbaseLuaModel
@testable import MoonbaseScripting

/// The names that scripts find in values equal those that `lua/types` gives editors.
@Suite struct TypeNameTests {
  private func promised(of name: String) throws -> Set<String> {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../lua/types")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let text = try files.filter { $0.pathExtension == "lua" }.sorted { $0.path < $1.path }
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let methods = text.matches(of: /function (?<subject>\w+):(?<name>\w+)\(/).filter { $0.output.subject == name }
      .map { String($0.output.name) }
    let part = text.components(separatedBy: "---@class moonbase.").first { $0.hasPrefix("\(name)\n") } ?? ""
    let head = part.prefix { $0 != "(" }.components(separatedBy: "\nlocal ")[0]
    let fields = head.components(separatedBy: "\n").compactMap { line in
      line.firstMatch(of: /^---@field (?<name>\w+)/).map { String($0.output.name) }
    }
    return Set(methods + fields)
  }

  @Test func everyPropertyAndMethodIsInTheTypesAndTheReverse() throws {
    let domain = try ScriptDomain()
    let types = domain.types
    defer { domain.close() }
    types.values.describeDate()
    types.values.describeDecimal()
    types.values.describeUUID()
    types.values.describeURI()
    types.values.describeObjectID()
    types.describeError()
    types.describeContext()
    types.describeRequest()
    types.describeMembers()
    types.describeProgress()
    types.describeWatch()
    types.describeJob()
    types.describeResultsBox()
    types.describeChanges(types.changes)
    let names = [
      "Date": types.date.names, "Decimal": types.decimal.names, "UUID": types.uuid.names, "URI": types.uri.names,
      "ObjectID": types.objectID.names, "Error": types.error.names, "Context": types.context.plain.names,
      "Request": types.request.names, "ToMany": types.members.names, "Progress": types.progress.names,
      "Watch": types.watch.names, "Job": types.job.names, "Results": types.results.names,
      "Changes": types.changes.names,
      "Object": types.objectMethods.map(\.name),
    ]
    for (name, known) in names {
      #expect(try promised(of: name).symmetricDifference(known).sorted() == [], "\(name)")
    }
  }
}
