import MoonbaseModel

/// Puts extensions into the order in which they apply: what one requires first, else as given.
struct ExtensionOrder {
  private let declarations: [ExtensionDeclaration]

  init(_ declarations: [ExtensionDeclaration]) { self.declarations = declarations }

  func sorted() throws -> [ExtensionDeclaration] {
    try checkNames()
    var result: [ExtensionDeclaration] = []
    var placed: Set<String> = []
    var waiting = declarations
    while !waiting.isEmpty {
      guard let index = waiting.firstIndex(where: { $0.requiredExtensions.allSatisfy(placed.contains) }) else {
        throw missing(waiting[0])
      }
      let next = waiting.remove(at: index)
      if let name = next.name { placed.insert(name) }
      result.append(next)
    }
    return result
  }

  private func checkNames() throws {
    var owners: [String: String] = [:]
    for declaration in declarations {
      guard let name = declaration.name else { continue }
      if let other = owners.updateValue(declaration.source.name, forKey: name) {
        throw ScriptError(
          .extensionConflict, message: "extension \(name) is already provided by \(other)",
          at: declaration.source.location(of: ["name"]))
      }
    }
  }

  private func missing(_ declaration: ExtensionDeclaration) -> ScriptError {
    let names = declarations.compactMap(\.name)
    let absent = declaration.requiredExtensions.first { !names.contains($0) }
    let message =
      absent.map { "extension \($0) is required and was not given: add its file" }
      ?? "the extensions \(declaration.requiredExtensions.joined(separator: ", ")) require each other"
    return ScriptError(
      .extensionConflict, message: message, at: declaration.source.location(of: ["requires", "extensions"]))
  }
}
