import MoonbaseModel
import MoonbasePlatform

/// Orders extensions for application: required extensions first, otherwise in the given order.
///
/// A stable topological sort: among the extensions whose requirements are placed, the first in the given order comes
/// next. Quadratic in the number of extensions.
struct ExtensionOrder {
  /// In the given order.
  private let declarations: [ExtensionDeclaration]
  private let mistakes: ExtensionMistakes

  init(_ declarations: [ExtensionDeclaration], mistakes: ExtensionMistakes) {
    (self.declarations, self.mistakes) = (declarations, mistakes)
  }

  /// The declarations in the order of application. Adds mistakes for names used twice, wrong versions, missing
  /// extensions and cycles; the order then is the best possible.
  func sorted() -> [ExtensionDeclaration] {
    checkNames()
    checkVersions()
    var result: [ExtensionDeclaration] = []
    var placed: Set<String> = []
    var waiting = declarations
    while !waiting.isEmpty {
      let index = waiting.firstIndex { $0.requirements.allSatisfy { placed.contains($0.name) } }
      if index == nil { mistakes.add(missing(waiting[0])) }
      let next = waiting.remove(at: index ?? 0)
      if let name = next.name { placed.insert(name) }
      result.append(next)
    }
    return result
  }

  /// Two extensions of the same name are an `.extensionConflict`.
  private func checkNames() {
    var owners: [String: String] = [:]
    for declaration in declarations {
      guard let name = declaration.name else { continue }
      if let other = owners.updateValue(declaration.source.name, forKey: name) {
        mistakes.add(
          ScriptError(
            .extensionConflict, message: "extension \(name) is already provided by \(other)",
            at: declaration.source.location(of: ["name"])))
      }
    }
  }

  /// Throws for a required extension whose version is out of range.
  private func checkVersions() {
    for declaration in declarations {
      for requirement in declaration.requirements {
        guard let versions = requirement.versions,
          let other = declarations.first(where: { $0.name == requirement.name }),
          other.version.map({ !versions.contains($0) }) ?? true
        else { continue }
        let found = other.version.map { "is of version \($0)" } ?? "says no version"
        mistakes.add(
          ScriptError(
            .extensionConflict,
            message:
              "extension \(requirement.name) of version \(versions) is required, and \(other.source.name) \(found)",
            at: declaration.source.location(of: ["requires", "extensions", requirement.name])))
      }
    }
  }

  /// The error of an extension that can never be placed: a requirement is absent, or requirements form a cycle.
  private func missing(_ declaration: ExtensionDeclaration) -> ScriptError {
    let names = declarations.compactMap(\.name)
    let required = declaration.requirements.map(\.name)
    let absent = required.first { !names.contains($0) }
    let message =
      absent.map { "extension \($0) is required and was not given: add its file\(suggestion(for: $0, among: names))" }
      ?? "the extensions \(required.joined(separator: ", ")) require each other"
    return ScriptError(
      .extensionConflict, message: message, at: declaration.source.location(of: ["requires", "extensions"]))
  }
}
