import MoonbaseModel

/// A mistake in extension files in a form for people: an app shows it or sends it as JSON, with the fields of `moonbase
/// check --json`.
///
/// ```swift
/// for finding in try container.extensions.check() { print(finding.file ?? "", finding.line ?? 0, finding.message) }
/// ```
public struct ExtensionFinding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The number of the kind of mistake (`ErrorCode`).
  public var code: Int
  /// A sentence that names the mistake and the remedy.
  public var message: String
  /// The file, as the caller named it; nil if the mistake concerns no single file.
  public var file: String?
  /// The line in the file.
  public var line: Int?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?

  /// The finding of a single error.
  init(_ error: ScriptError) {
    (code, message, entity, property) = (error.code.rawValue, error.message, error.entity, error.property)
    (file, line) = (error.location?.file, error.location?.line)
  }

  /// The message with its place, as `file:line: message`.
  public var description: String {
    guard let file else { return message }
    return "\(file)\(line.map { ":\($0)" } ?? ""): \(message)"
  }
}

extension ScriptExtensions {
  /// Reads and checks the files as `reload` does and returns their mistakes. The loaded extensions and contexts are not
  /// changed, and observers of reloads are not notified.
  ///
  /// A file that does not run hides further mistakes. Throws `ScriptError` and `LuaError` if reading was ended, for
  /// example by limits.
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
