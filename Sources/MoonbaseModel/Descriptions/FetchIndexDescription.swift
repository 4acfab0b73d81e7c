/// An index that the model requests from the store.
///
/// ```swift
/// let byName = FetchIndexDescription("byName", on: "lastName", "-age")    // a minus: from the greatest down
/// ```
public struct FetchIndexDescription: Sendable, Hashable {
  /// The kind of index structure.
  public enum Kind: Int, Sendable, Hashable {
    /// An ordered index.
    case binary = 0
    /// A spatial index.
    case rTree = 1
  }

  /// A column of an index.
  public struct Element: Sendable, Hashable {
    /// The property's name, or an expression in text form where `isExpression` is true.
    public var property: String
    /// Whether `property` is an expression.
    public var isExpression: Bool = false
    /// The type of the expression's result as Xcode names it; kept, without effect here.
    public var expressionType: String?
    /// The kind of index structure.
    public var kind: Kind = .binary
    /// Whether the order is ascending.
    public var isAscending: Bool = true

    /// An ascending column over a property.
    public init(_ property: String) { self.property = property }
  }

  /// The index's name, unique in its entity.
  public var name: String
  /// The columns, the most significant first.
  public var elements: [Element]
  /// The predicate of a partial index, in text form.
  public var partialIndexPredicate: String?
  /// The place in the model's file.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// An index with these columns.
  public init(_ name: String, elements: [Element]) {
    self.name = name
    self.elements = elements
  }
}
