import MoonbaseModel
import MoonbasePlatform

extension AspectValue {
  /// The node in a Lua model. Throws `.unsupportedForm` for a value without a Lua literal.
  ///
  /// The result reads back as an equal value.
  func tree() throws(ModelError) -> ModelTree {
    switch self {
    case .flag(let flag): return .value(.bool(flag))
    case .text(let text): return .value(.string(text))
    case .number(let number): return .value(.int(Int64(number)))
    case .type(let type): return .value(.string(type.modelName))
    case .deleteRule(let rule): return .value(.string(rule.modelName))
    case .resultType(let type): return .value(.string(type.modelName))
    case .predicate(let predicate): return .value(.string("\(predicate)"))
    case .value(let value): return try ModelTree(literal: value)
    case .values(let values):
      var list: [ModelTree] = []
      for value in values { list.append(try ModelTree(literal: value)) }
      return .table(list)
    case .rules(let rules):
      return .table(rules.map { [.value(.string("\($0.predicate)")), .value(.string($0.message))] })
    case .names(let names), .set(let names): return ModelTree(names: names)
    case .sort(let keys): return .table(keys.map(ModelTreeWriter.tree))
    case .columns(let columns): return .table(columns.map(ModelTreeWriter.tree))
    case .constraints(let constraints): return .table(constraints.map(ModelTree.init(names:)))
    case .indexes(let indexes):
      return .table([], entries: indexes.map { .init($0.name, tree: ModelTreeWriter.tree($0)) })
    case .fetch(let request): return try ModelTreeWriter.tree(request)
    case .attributes, .relationships, .fetchedProperties, .userInfo: return .table([], entries: try entries())
    }
  }

  /// The named entries of a value that is a table.
  private func entries() throws(ModelError) -> [ModelTree.Entry] {
    var entries: [ModelTree.Entry] = []
    switch self {
    case .attributes(let list):
      for each in list { entries.append(.init(each.name, tree: try ModelTreeWriter.tree(each))) }
    case .relationships(let list):
      for each in list { entries.append(.init(each.name, tree: try ModelTreeWriter.tree(each))) }
    case .fetchedProperties(let list):
      for each in list { entries.append(.init(each.name, tree: try ModelTreeWriter.tree(each))) }
    case .userInfo(let info):
      for (key, value) in info.sorted(by: { $0.key < $1.key }) {
        guard value.isWritableAsUserInfo else {
          throw ModelError(.unsupportedForm, message: "user info \(key): \(value.typePhrase) cannot be written in Lua")
        }
        entries.append(.init(key, tree: ModelTree(of: value)))
      }
    default: break
    }
    return entries
  }
}

extension ModelTree {
  /// A list of strings.
  init(names: [String]) { self = .table(names.map { .value(.string($0)) }) }

  /// An attribute's value as a Lua literal that reads back as the same value.
  fileprivate init(literal value: Value) throws(ModelError) {
    switch value {
    case .bool, .int, .double, .string: self = .value(value)
    case .decimal(let decimal): self = .value(.string("\(decimal)"))
    case .uuid(let uuid): self = .value(.string(uuid.uuidString))
    case .uri(let uri): self = .value(.string(uri.absoluteString))
    case .date(let date): self = .value(date.literal)
    default: throw ModelError(.unsupportedForm, message: "\(value.typePhrase) cannot be written in Lua")
    }
  }
}

extension Date {
  /// ISO 8601 if that is exact, else seconds since 2001.
  fileprivate var literal: Value {
    let text = ISODate.text(self)
    return ISODate.parse(text) == self ? .string(text) : .double(timeIntervalSinceReferenceDate)
  }
}
