import MoonbaseModel

/// A mistake of extension files, for a person: an app shows it, or sends it as JSON, with the fields of `moonbase check
/// --json`.
///
/// ```swift
/// for finding in try container.extensions.check() { print(finding.file ?? "", finding.line ?? 0, finding.message) }
/// ```
public struct ExtensionFinding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The number of the kind of mistake (`ErrorCode`).
  public var code: Int
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The file, as it was named; nil where no single file is to blame.
  public var file: String?
  /// The line in the file.
  public var line: Int?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?

  init(_ error: ScriptError) {
    (code, message, entity, property) = (error.code.rawValue, error.message, error.entity, error.property)
    (file, line) = (error.location?.file, error.location?.line)
  }

  /// The message behind its place, as `file:line: message`.
  public var description: String {
    guard let file else { return message }
    return "\(file)\(line.map { ":\($0)" } ?? ""): \(message)"
  }
}

extension ScriptExtensions {
  /// Reads and checks the files as `reload` would, and lists what is wrong with them. Nothing is taken over, no context
  /// is told, and observers of reloads are told nothing.
  ///
  /// A file that does not run hides other mistakes. Throws `ScriptError` and `LuaError` where the reading was ended, by
  /// limits for example.
  public func check() throws -> [ExtensionFinding] {
    do {
      _ = try load(number: generation) { _ in }
      return []
    } catch let error as ScriptError where !error.code.endsRun {
      return error.all.map { ExtensionFinding($0) }
    } catch let error as ModelError {
      return error.all.map {
        ExtensionFinding(
          ScriptError($0.code, message: $0.message, at: $0.location, entity: $0.entity, property: $0.property))
      }
    }
  }
}
