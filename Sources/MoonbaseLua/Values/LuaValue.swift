/// A Lua value. Numbers, strings and booleans are plain; tables, functions and coroutines are handles to values in a
/// state.
///
/// ```swift
/// let results = try state.load("return 42, 'x', { n = 1 }", name: "values.lua")()
/// results[0].integerValue                            // 42
/// results[1].textValue                               // "x"
/// try results[2].tableValue?.get("n").numberValue    // 1.0
/// let arguments: [LuaValue] = [7, "text", 1.5, true, nil]
/// ```
public enum LuaValue {
  /// Lua's nil: no value.
  case `nil`
  /// `moonbase.null`, which represents nil within lists and maps.
  case null
  /// True or false.
  case boolean(Bool)
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number.
  case number(Double)
  /// Bytes, usually text.
  case string(LuaString)
  /// A table.
  case table(LuaTable)
  /// A function.
  case function(LuaFunction)
  /// A host object.
  case object(LuaObject)
  /// Userdata that is not the host's.
  case userdata(LuaUserdata)
  /// A coroutine.
  case thread(LuaThread)
}

extension LuaValue {
  /// A string value of a text.
  public static func text(_ text: String) -> LuaValue { .string(LuaString(text)) }

  /// Whether the value is neither nil nor null.
  public var isPresent: Bool {
    switch self {
    case .nil, .null: false
    default: true
    }
  }

  /// Whether the value is true in Lua: all values but nil and false.
  public var isTrue: Bool {
    switch self {
    case .nil: false
    case .boolean(let value): value
    default: true
    }
  }

  /// The integer, also of an integral float; nil for other values.
  public var integerValue: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number, also of an integer; nil for other values.
  public var numberValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The boolean.
  public var booleanValue: Bool? { if case .boolean(let value) = self { value } else { nil } }

  /// The string.
  public var stringValue: LuaString? { if case .string(let value) = self { value } else { nil } }

  /// The string if it is UTF-8.
  public var textValue: String? { stringValue?.text }

  /// The table.
  public var tableValue: LuaTable? { if case .table(let value) = self { value } else { nil } }

  /// The function.
  public var functionValue: LuaFunction? { if case .function(let value) = self { value } else { nil } }

  /// The coroutine.
  public var threadValue: LuaThread? { if case .thread(let value) = self { value } else { nil } }

  /// The host object; nil for an object of another class and for other values.
  public func objectValue<Object: AnyObject>(as type: Object.Type = Object.self) -> Object? {
    if case .object(let value) = self { value.object as? Object } else { nil }
  }

  /// The bytes that the value takes outside of Lua, in addition to its own size. A string that Lua stores once is
  /// copied for each value here.
  var weight: Int {
    switch self {
    case .string(let string): string.count
    case .table, .function, .userdata, .thread: 64
    default: 0
    }
  }

  /// Lua's name of the type.
  public var typeName: String {
    switch self {
    case .nil: "nil"
    case .null: "null"
    case .boolean: "boolean"
    case .integer, .number: "number"
    case .string: "string"
    case .table: "table"
    case .function: "function"
    case .object(let value): value.type.name
    case .userdata: "userdata"
    case .thread: "thread"
    }
  }

  /// The type with its article, for messages: "an error", "a number"; "nil" without article.
  package var typePhrase: String {
    switch self {
    case .nil, .null: typeName
    default: typeName.withArticle
    }
  }
}

extension String {
  /// The noun with its article.
  package var withArticle: String {
    // A UUID and a URI begin with the sound of "you".
    let vowels = ["a", "e", "i", "o"]
    return "\(vowels.contains { lowercased().hasPrefix($0) } ? "an" : "a") \(self)"
  }
}

// `nil` is deliberately no literal of `LuaValue`: in `isKnown ? value : nil`, which is meant as an optional, it would
// be Lua's nil.
extension LuaValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// Handle to userdata that is not the host's, such as a file of Lua's own `io` in preset `trusted`.
///
/// ```swift
/// if case .userdata(let userdata) = try state.global("file") { try close.call([.userdata(userdata)]) }
/// ```
public struct LuaUserdata {
  /// Keeps the userdata alive.
  let reference: LuaReference
}
