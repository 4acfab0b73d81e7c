/// One key of a sort order.
///
/// ```swift
/// request.sortDescriptors = [SortDescriptor("lastName", comparator: .localizedStandardCompare), SortDescriptor(text: "-age")]
/// ```
public struct SortDescriptor: Sendable, Hashable {
  /// How two strings are ordered.
  public enum Comparator: String, Sendable, Hashable {
    /// By code point, as SQLite's BINARY.
    case compare
    /// Without regard to case.
    case caseInsensitiveCompare
    /// As a person expects in the current locale.
    case localizedCompare
    /// The same without regard to case.
    case localizedCaseInsensitiveCompare
    /// As a file browser does: numbers in text by value.
    case localizedStandardCompare
  }

  /// The key path.
  public var keyPath: String
  /// Whether the order ascends. Missing values come first in ascending order.
  public var ascending: Bool
  /// How strings are compared.
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
