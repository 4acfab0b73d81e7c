import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// Values as types of the program.
extension Value {
  /// Reads the value as any `Decodable` type: plain values, lists, maps, and values of classes that an extension
  /// defines.
  ///
  /// ```swift
  /// struct Color: Codable { var r, g, b, a: Double }
  /// let color = try person.value(forKey: "favoriteColor").decode(as: Color.self)
  /// ```
  ///
  /// A value of a class is read from the table of plain values that the class's function `to_tree(value)` returns, or
  /// from its fields without that function. Call this on the thread of the value's context.
  ///
  /// Throws `ScriptError` on another thread, and if the class names another type in its field `swift`. A value that
  /// does not fit the type throws `DecodingError`, or an error that names the place.
  public func decode<Decoded: Decodable>(as type: Decoded.Type = Decoded.self) throws -> Decoded {
    if case .object(let object) = self {
      return try ScriptDomains.domain(of: object).decode(object, as: type)
    }
    return try LuaTree(self).decoded(as: type)
  }

  /// Reads a value of a class as the type that the class names in its field `swift`. The program must have registered
  /// the type under this name with `ExtensionSource.codable`.
  public func decode() throws -> any Decodable & Sendable {
    guard case .object(let object) = self else {
      throw ScriptError(.invalidValue, message: "\(typePhrase) has no class that names a type: say decode(as:)")
    }
    return try ScriptDomains.domain(of: object).decode(object)
  }
}

/// The conversion for decoding. Lua's plain data has neither decimals nor dates, which take the form that their Swift
/// types decode themselves from.
extension LuaTree {
  /// A value as plain data. Throws for a nested value of a class from another context. Decimals, UUIDs, URIs and object
  /// IDs become texts, dates become seconds since 2001.
  fileprivate init(_ value: Value) throws {
    switch value {
    case .null: self = .null
    case .bool(let truth): self = .boolean(truth)
    case .int(let number): self = .integer(number)
    case .double(let number): self = .number(number)
    case .decimal(let number): self = .text(number.description)
    case .string(let text): self = .text(text)
    // The form in which `Date` decodes itself.
    case .date(let date): self = .number(date.timeIntervalSinceReferenceDate)
    case .data(let data): self = .string(LuaString(bytes: data))
    case .uuid(let uuid): self = .text(uuid.uuidString)
    case .uri(let uri): self = .text(uri.absoluteString)
    case .objectID(let id): self = .text(id.uriRepresentation)
    case .list(let list): self = .list(try list.map { try LuaTree($0) })
    case .map(let map):
      self = .map(
        Dictionary(try map.map { (LuaString($0.key), try LuaTree($0.value)) }) { _, later in later })
    case .object(let object): self = try LuaTree(ScriptDomains.domain(of: object).fields(of: object))
    }
  }
}

extension ScriptDomain {
  /// Decodes a value of a class as a type. Throws `.invalidValue` if the class names a registered type other than
  /// `type`.
  fileprivate func decode<Decoded: Decodable>(_ object: OpaqueObject, as type: Decoded.Type) throws -> Decoded {
    if let name = try swiftName(of: object), let registered = swiftTypes[name], registered != type {
      throw ScriptError(
        .invalidValue,
        message: "\(object.className.withArticle) is \(name) in Swift, which is \(registered), and not \(type)")
    }
    return try LuaTree(fields(of: object)).decoded(as: type)
  }

  /// Decodes a value as the type that its class names. Throws `.invalidValue` without a name or a registered type.
  fileprivate func decode(_ object: OpaqueObject) throws -> any Decodable & Sendable {
    guard let name = try swiftName(of: object) else {
      throw ScriptError(
        .invalidValue, message: "class \(object.className) names no type of Swift: give it a field swift = \"NAME\"")
    }
    guard let type = swiftTypes[name] else {
      let hint = suggestion(for: name, among: swiftTypes.keys.sorted())
      throw ScriptError(
        .invalidValue,
        message: "class \(object.className): no type is registered as \(name)\(hint): use ExtensionSource.codable")
    }
    return try LuaTree(fields(of: object)).decoded(as: type)
  }

  /// The class's field `swift`: the name of a type of the program, registered with `ExtensionSource.codable`.
  private func swiftName(of object: OpaqueObject) throws -> String? {
    try valueClass(of: object)?.get("swift").textValue
  }

  /// The class of a value in this domain, by name; nil after the class was removed.
  private func valueClass(of object: OpaqueObject) -> LuaTable? {
    currentClasses.first { $0.name == object.className }?.value
  }

  /// The plain values of an object of a class: the result of its `to_tree`, else its fields.
  ///
  /// Throws `.invalidRequest` with the function's place if `to_tree` returns nothing, and `ScriptError` for errors of
  /// Lua.
  fileprivate func fields(of object: OpaqueObject) throws -> Value {
    let value = try resolve(object)
    return try ScriptError.telling {
      if case .function(let toTree)? = try valueClass(of: object)?.get("to_tree") {
        let result = try toTree.call([value]).first ?? .nil
        guard result.isPresent else {
          throw toTree.mistake("to_tree of class \(object.className) gave nothing: return a table of plain values")
        }
        return try toTree.checking("to_tree of class \(object.className)") { try graphValue(from: result) }
      }
      guard case .table(let table) = value else { return try graphValue(from: value) }
      let plain = try state.table()
      for (key, value) in try table.pairs { try plain.set(key, to: value) }
      return try graphValue(from: .table(plain))
    }
  }
}

/// The domains that have values of classes, by number.
///
/// An `OpaqueObject` has only the number of its domain; decoding in Swift has no context at hand and finds the domain
/// here. Domains register when they make their first token and leave in their `deinit`.
enum ScriptDomains {
  private final class Entry: @unchecked Sendable {  // sound: `domain` is read only on the thread that made it
    weak var domain: ScriptDomain?
    /// The thread of the domain, on which alone its Lua state may be used.
    let thread: UInt

    init(_ domain: ScriptDomain, thread: UInt) { (self.domain, self.thread) = (domain, thread) }
  }

  /// Weak entries, so that this table keeps no domain alive.
  private static let known = Lock<[UInt64: Entry]>([:])

  /// Registers a domain, or replaces its thread after the domain has moved to another one.
  static func add(_ domain: ScriptDomain, on thread: UInt) {
    let entry = Entry(domain, thread: thread)
    known.withLock { $0[domain.number] = entry }
  }

  /// Removes a domain that ended.
  static func remove(_ number: UInt64) { _ = known.withLock { $0.removeValue(forKey: number) } }

  /// The domain of a value. Call this on the domain's thread. Throws `.invalidValue` on another thread, and after the
  /// end of the domain.
  static func domain(of object: OpaqueObject) throws -> ScriptDomain {
    let entry = known.withLock { $0[object.domain] }
    guard let entry, entry.thread == CurrentThread.number, let domain = entry.domain else {
      let reason =
        entry == nil || entry?.thread == CurrentThread.number
        ? "its context is gone" : "it belongs to a context of another thread: decode it there, and hand over the result"
      throw ScriptError(
        .invalidValue, message: "\(object.className.withArticle) cannot be decoded here: \(reason)")
    }
    return domain
  }
}
