public import MoonbaseModel

/// The tables of a model file as a value, each with its line.
///
/// The scripting target runs a Lua model file and converts its result to a tree; `ManagedObjectModel.init(tree:file:)`
/// reads it. A Lua table has a list part and named entries, and may have both:
///
/// ```swift
/// // { "string", max_length = 80 }
/// let tree = ModelTree.table(["string"], entries: [.init("max_length", tree: 80)])
/// ```
public struct ModelTree: Sendable, Hashable {
  /// The content of a node.
  public indirect enum Content: Sendable, Hashable {
    /// A string, a number, a boolean, or another scalar of the host's scripts.
    case value(Value)
    /// A table.
    case table(list: [ModelTree], entries: [Entry])
  }

  /// A named entry of a table.
  public struct Entry: Sendable, Hashable {
    /// The name.
    public var key: String
    /// The value of the entry.
    public var tree: ModelTree

    /// A named entry.
    public init(_ key: String, tree: ModelTree) {
      self.key = key
      self.tree = tree
    }
  }

  /// The content of the node.
  public var content: Content
  /// The line in the file, from 1; nil if unknown.
  @IgnoredInEquality public var line: Int? = nil
  /// Comment lines above a named entry, for writing a file.
  @IgnoredInEquality package var comment: [String] = []

  /// A node.
  public init(_ content: Content, line: Int? = nil) {
    self.content = content
    self.line = line
  }

  /// A scalar.
  public static func value(_ value: Value, line: Int? = nil) -> Self { Self(.value(value), line: line) }

  /// A table with a list part and named entries.
  public static func table(_ list: [ModelTree] = [], entries: [Entry] = [], line: Int? = nil) -> Self {
    Self(.table(list: list, entries: entries), line: line)
  }

  /// A table with named entries only.
  public static func map(_ entries: KeyValuePairs<String, ModelTree>, line: Int? = nil) -> Self {
    .table([], entries: entries.map { Entry($0.key, tree: $0.value) }, line: line)
  }
}

extension ModelTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .value(.int(value)) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
  /// A table with a list part only.
  public init(arrayLiteral elements: ModelTree...) { self = .table(elements) }
}

extension ModelTree {
  /// The scalar; nil for a table.
  var scalar: Value? {
    if case .value(let value) = content { value } else { nil }
  }

  /// The string; nil for other nodes.
  var string: String? {
    if case .value(.string(let string)) = content { string } else { nil }
  }

  /// The kind of node, for messages.
  var kind: String {
    switch content {
    case .value(let value): value.typePhrase
    case .table: "a table"
    }
  }

  /// Whether tables are nested more than 100 levels deep, or number more than a million.
  ///
  /// Counting ends at the limit, so that shared tables do no harm.
  var isNestedTooDeeply: Bool {
    TreeLimits.areExceeded(by: self) { tree in
      guard case .table(let list, let entries) = tree.content else { return [] }
      return (list + entries.map(\.tree)).filter { $0.scalar == nil }
    }
  }

  /// A key that occurs in two Unicode forms, in this table or a nested one, because a dictionary treats both as equal;
  /// nil if there is none.
  var keyInTwoForms: String? {
    guard case .table(let list, let entries) = content else { return nil }
    var keys: Set<String> = []
    for entry in entries where !keys.insert(entry.key).inserted { return entry.key }
    return (list + entries.map(\.tree)).lazy.compactMap(\.keyInTwoForms).first
  }

  /// The node as a user info value. A table with a list part only becomes a list.
  ///
  /// With named entries, elements of the list part get their positions as keys.
  var asValue: Value {
    switch content {
    case .value(let value): value
    case .table(let list, let entries) where entries.isEmpty: .list(list.map(\.asValue))
    case .table(let list, let entries):
      .map(
        Dictionary(
          entries.map { ($0.key, $0.tree.asValue) } + list.enumerated().map { ("\($0 + 1)", $1.asValue) }
        ) { first, _ in first })
    }
  }

  /// The node of a user info value.
  ///
  /// Maps are sorted by key.
  init(of value: Value) {
    switch value {
    case .list(let list): self = .table(list.map(ModelTree.init(of:)))
    case .map(let map):
      self = .table([], entries: map.sorted { $0.key < $1.key }.map { Entry($0.key, tree: ModelTree(of: $0.value)) })
    default: self = .value(value)
    }
  }
}
