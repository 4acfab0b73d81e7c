/// The handling of a store whose saves ran with extensions that the container lacks.
///
/// A store remembers the names and versions of the extensions that its saves ran with. Without one of them, its rules
/// would not be checked and its stored derived attributes would not be updated.
///
/// ```swift
/// description.missingExtensions = .refused()
/// ```
public enum MissingExtensions: Sendable {
  /// The store is opened.
  case ignored
  /// A store opened for writing is refused: `.extensionConflict` names the extension. Extensions in `but` may be
  /// missing. For a read-only store, `tell` receives a message.
  case refused(but: Set<String> = [], tell: @Sendable (String) -> Void = { _ in })
}
