import MoonbaseModel
import MoonbasePlatform

/// Collects the entries of a table; what says nothing is left out.
struct TreeBuilder {
  private let list: [ModelTree]
  private var entries: [ModelTree.Entry] = []

  init(_ list: [ModelTree] = []) { self.list = list }

  var tree: ModelTree { .table(list, entries) }

  /// A single unnamed value without its table.
  var shortTree: ModelTree { list.count == 1 && entries.isEmpty ? list[0] : tree }

  mutating func add(_ key: String, _ tree: ModelTree, if condition: Bool = true) {
    if condition { entries.append(.init(key, tree)) }
  }

  mutating func add(_ key: String, _ string: String?) {
    if let string { add(key, .value(.string(string))) }
  }

  mutating func add(_ key: String, _ integer: Int?) {
    if let integer { add(key, .value(.int(Int64(integer)))) }
  }

  mutating func add(entries key: String, _ named: [ModelTree.Entry]) {
    add(key, .table([], named), if: !named.isEmpty)
  }

  mutating func add(_ key: String, value: Value, of attribute: AttributeDescription) throws(ModelError) {
    if !value.isNull { add(key, try Self.scalar(value, of: attribute)) }
  }

  mutating func add(userInfo: [String: Value]) throws(ModelError) {
    var named: [ModelTree.Entry] = []
    for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
      guard value.isWritable else {
        throw ModelError(.unsupportedForm, "user info \(key): \(value.typePhrase) cannot be written in Lua")
      }
      named.append(.init(key, ModelTree(of: value)))
    }
    add(entries: "user_info", named)
  }

  /// A value of an attribute as a Lua literal that the reader turns into the same value.
  static func scalar(_ value: Value, of attribute: AttributeDescription) throws(ModelError) -> ModelTree {
    switch value {
    case .bool, .int, .double, .string: return .value(value)
    case .decimal(let decimal): return .value(.string("\(decimal)"))
    case .uuid(let uuid): return .value(.string(uuid.uuidString))
    case .uri(let uri): return .value(.string(uri.absoluteString))
    case .date(let date): return .value(date.literal)
    default:
      throw ModelError(
        .unsupportedForm, "attribute \(attribute.name): \(value.typePhrase) cannot be written in Lua",
        property: attribute.name)
    }
  }
}

extension Value {
  /// Whether user info can hold the value in a Lua file.
  fileprivate var isWritable: Bool {
    switch self {
    case .bool, .int, .double, .string: true
    case .list(let list): list.allSatisfy(\.isWritable)
    case .map(let map): map.values.allSatisfy(\.isWritable)
    default: false
    }
  }
}

extension Date {
  /// ISO 8601 where it says the date exactly, else seconds since 2001.
  fileprivate var literal: Value {
    let text = ISODate.text(self)
    return ISODate.parse(text) == self ? .string(text) : .double(timeIntervalSinceReferenceDate)
  }
}
