/// A key of a sort order.
///
/// ```swift
/// request.sortDescriptors = [
///   SortDescriptor("lastName", comparator: .localizedStandardCompare), SortDescriptor(text: "-age"),
/// ]
/// ```
public struct SortDescriptor: Sendable, Hashable {
  /// The comparison of strings.
  public enum Comparator: String, Sendable, Hashable {
    /// By code point, as SQLite's BINARY.
    case compare
    /// By code point, ignoring case.
    case caseInsensitiveCompare
    /// By the rules of the current locale.
    case localizedCompare
    /// By the rules of the current locale, ignoring case.
    case localizedCaseInsensitiveCompare
    /// As in a file browser: numbers within text by value.
    case localizedStandardCompare
  }

  /// The key path.
  public var keyPath: String
  /// Whether the order ascends. Missing values come first in ascending order.
  public var ascending: Bool
  /// The comparison of strings.
  public var comparator: Comparator

  /// A sort key.
  public init(_ keyPath: String, ascending: Bool = true, comparator: Comparator = .compare) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.comparator = comparator
  }

  /// Reads `name` or `-name`.
  public init(text: String) {
    self = text.hasPrefix("-") ? Self(String(text.dropFirst()), ascending: false) : Self(text)
  }
}
