/// The answer to a store whose saves ran with extensions that the container lacks.
///
/// A store remembers the names and versions of the extensions that its saves ran with. Without one of them, rules
/// would be passed over and stored derived attributes would stay as they are.
///
/// ```swift
/// description.missingExtensions = .refused()
/// ```
public enum MissingExtensions: Sendable {
  /// Nothing.
  case ignored
  /// A store that is written is not opened: `.extensionConflict` names the extension. Extensions named in `but` may be
  /// missing. For a store that is only read, `tell` gets a message.
  case refused(but: Set<String> = [], tell: @Sendable (String) -> Void = { _ in })
}
