public import MoonbaseModel

/// The tables of a model file as a value, each with the line where it was written.
///
/// The scripting layer runs a Lua model file and makes a tree of what it returns; `ManagedObjectModel.init(tree:file:)` reads
/// it. A Lua table has a list part and named entries, and may have both:
///
/// ```swift
/// // { "string", max_length = 80 }
/// let tree = ModelTree.table(["string"], entries: [.init("max_length", tree: 80)])
/// ```
public struct ModelTree: Sendable, Hashable {
  /// What a node is.
  public indirect enum Content: Sendable, Hashable {
    /// A string, a number, a truth value, or another scalar that the host's scripts know.
    case value(Value)
    /// A table.
    case table(list: [ModelTree], entries: [Entry])
  }

  /// A named entry of a table.
  public struct Entry: Sendable, Hashable {
    /// The name.
    public var key: String
    /// What it stands for.
    public var tree: ModelTree

    /// An entry.
    public init(_ key: String, tree: ModelTree) {
      self.key = key
      self.tree = tree
    }
  }

  /// What the node is.
  public var content: Content
  /// The line in the file, from 1, where it is known.
  @IgnoredInEquality public var line: Int? = nil
  /// Lines of comment above a named entry, in a file that is written.
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
  /// The scalar, if the node is one.
  var scalar: Value? {
    if case .value(let value) = content { value } else { nil }
  }

  /// The string, if the node is one.
  var string: String? {
    if case .value(.string(let string)) = content { string } else { nil }
  }

  /// What the node is, in the words of a message.
  var kind: String {
    switch content {
    case .value(let value): value.typePhrase
    case .table: "a table"
    }
  }

  /// Whether tables are nested more than 100 levels deep, or are more than a million.
  var isNestedTooDeeply: Bool {
    TreeLimits.areExceeded(by: self) { tree in
      guard case .table(let list, let entries) = tree.content else { return [] }
      return (list + entries.map(\.tree)).filter { $0.scalar == nil }
    }
  }

  /// A key of a table, or of one in it, that is there in two forms of Unicode, which a map takes for one.
  var keyInTwoForms: String? {
    guard case .table(let list, let entries) = content else { return nil }
    var keys: Set<String> = []
    for entry in entries where !keys.insert(entry.key).inserted { return entry.key }
    return (list + entries.map(\.tree)).lazy.compactMap(\.keyInTwoForms).first
  }

  /// Tables and scalars as the value of a user info entry; lists where a table has a list part only.
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
  init(of value: Value) {
    switch value {
    case .list(let list): self = .table(list.map(ModelTree.init(of:)))
    case .map(let map):
      self = .table([], entries: map.sorted { $0.key < $1.key }.map { Entry($0.key, tree: ModelTree(of: $0.value)) })
    default: self = .value(value)
    }
  }
}
