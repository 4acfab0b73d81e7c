import MoonbaseLua
import MoonbaseModel

/// Lua code that does nothing with an object but read and set attributes.
///
/// ```lua
/// local r, g, b, a = string.unpack("<dddd", object.color)
/// object.color = string.pack("<dddd", r, g, b, 1 - a)
/// ```
///
/// The code consists of attributes, its own locals, and functions of the standard library that depend only on their
/// arguments. So it may be called with values in place of the object, any number of times. Code with other constructs
/// is not recognised.
///
/// A command such as `moonbase each --do` runs the code over millions of objects. Recognised code becomes a pure
/// function, which the store runs within an `UPDATE` statement, with the same result as over objects
/// (`ObjectFunction.runInStore`).
struct ObjectCode {
  /// The attributes that are set.
  let attributes: [String]
  /// The attributes that are read or set.
  let inputs: [String]
  /// The code in parts, in which accesses to the object are replaced.
  private let pieces: [CodePiece]
  /// Whether the code returns early, so that it has to become a function of its own.
  private let returns: Bool
  /// Whether the code may distinguish equal values.
  private let tellsEqualsApart: Bool

  /// Parses code that accesses `object`. Nil for code that is not recognised, and for code that sets nothing.
  init?(body: String) {
    let tokens = CodeToken.all(of: body)
    self.init(tokens[...], in: Array(body.utf8), object: "object")
  }

  /// Parses a file of the form `return function(object, context) ... end`. The parameters may have any names. Nil for a
  /// file of another form.
  init?(file: String) {
    let tokens = CodeToken.all(of: file)
    guard tokens.starts(with: ["return", "function", "("]), tokens.count > 7, tokens.last?.token == .name("end"),
      case .name(let object) = tokens[3].token
    else { return nil }
    var rest = tokens[4...].dropLast()
    if rest.first == ",", rest.count > 2, case .name(let context) = rest[rest.startIndex + 1].token {
      // The second parameter hides another name.
      guard context != object, !CodeWords.functions.contains(context), !CodeWords.libraries.contains(context) else {
        return nil
      }
      rest = rest.dropFirst(2)
    }
    guard rest.first == ")" else { return nil }
    self.init(rest.dropFirst(), in: Array(file.utf8), object: object)
  }

  /// Parses the tokens of the body.
  private init?(_ tokens: ArraySlice<CodeToken>, in source: [UInt8], object: String) {
    var parser = CodeParser(tokens, in: source, object: object)
    guard let pieces = parser.pieces(of: tokens), !parser.attributes.isEmpty else { return nil }
    (self.pieces, attributes, inputs) = (pieces, parser.attributes, parser.inputs)
    returns = tokens.contains("return")
    tellsEqualsApart = tokens.contains("[") || tokens.contains("rawequal")
  }

  /// Lua code that returns a function from the inputs to the new value of an attribute. Nil if an assigned value is
  /// read again and its type has several forms of values.
  ///
  /// For `object.age = object.age + 1` the text ends with this function:
  ///
  /// ```text
  /// return function(__object_age)
  /// do __object_age = (__object_age + 1
  /// )
  /// end
  /// return __object_age
  /// end
  /// ```
  func text(setting attribute: String, types: (String) -> AttributeType?) -> String? {
    let checked = readAgain
    // An object returns a new date at each read.
    if tellsEqualsApart, !inputs.allSatisfy({ types($0).map { Self.forms(of: $0).isRight != nil } ?? false }) {
      return nil
    }
    var lines = ["local string, math, table, utf8 = string, math, table, utf8"]
    for word in CodeWords.functions.sorted() { lines.append("local \(word) = \(word)") }
    for attribute in checked.sorted() {
      guard let check = types(attribute).flatMap(Self.check) else { return nil }
      lines.append("local function \(CodePiece.check(attribute))(value, former) \(check) end")
    }
    // From here on, code that accesses a global raises an error.
    lines.append("local _ENV = nil")
    lines.append("return function(\(inputs.map(CodePiece.variable).joined(separator: ", ")))")
    let code = pieces.map { $0.text(checking: checked) }.joined()
    lines.append(returns ? "local function __run() \(code)\nend __run()" : "do \(code)\nend")
    lines.append("return \(CodePiece.variable(attribute))\nend")
    return lines.joined(separator: "\n")
  }

  /// The attributes whose assigned values the code may read or overwrite. An assigned value must be converted as an
  /// object would convert it. With loops and functions these are all attributes that are set.
  private var readAgain: Set<String> {
    if pieces.contains(where: \.mayRepeat) { return Set(attributes) }
    var (assigned, found): (Set<String>, Set<String>) = ([], [])
    for piece in pieces {
      switch piece {
      case .text: break
      case .attribute(let name): if assigned.contains(name) { found.insert(name) }
      case .assignment(let name, let value):
        found.formUnion(value.compactMap(\.name).filter(assigned.contains))
        if !assigned.insert(name).inserted { found.insert(name) }
      }
    }
    return found
  }

  /// Lua code that returns a value as an object would store it, or fails. Nil for a type without a single form of
  /// values. The code sees `value` and `former`.
  private static func check(_ type: AttributeType) -> String? {
    let (isRight, conversion) = forms(of: type)
    guard let isRight else { return nil }
    // An equal value is no change: between 0.0 and -0.0 the former value stays.
    return "\(conversion)if value == former then return former end "
      + "if value == nil or \(isRight) then return value end error('another value')"
  }

  /// The Lua test that a value has a type, and the conversion of numbers. The test is nil for types whose values are
  /// objects in Lua, such as dates.
  private static func forms(of type: AttributeType) -> (isRight: String?, conversion: String) {
    let integer = "math.type(value) == 'integer'"
    let toInteger = "if math.type(value) == 'float' then value = math.tointeger(value) or value end "
    switch type {
    case .integer16: return (integer + " and value >= -32768 and value <= 32767", toInteger)
    case .integer32: return (integer + " and value >= -2147483648 and value <= 2147483647", toInteger)
    case .integer64: return (integer, toInteger)
    case .double:
      return (
        "math.type(value) == 'float' and value == value",
        "if \(integer) and value + 0.0 == value then value = value + 0.0 end "
      )
    case .boolean: return ("type(value) == 'boolean'", "")
    case .string: return ("type(value) == 'string' and utf8.len(value)", "")
    case .binaryData: return ("type(value) == 'string'", "")
    default: return (nil, "")
    }
  }
}

/// A part of the code.
///
/// The concatenated texts of all pieces are the code again, with variables in place of accesses.
enum CodePiece {
  /// Code without accesses; `mayRepeat` marks keywords of loops and functions.
  case text(String, mayRepeat: Bool)
  /// An attribute that is read.
  case attribute(String)
  /// An attribute that is set to an expression.
  case assignment(String, [CodePiece])

  /// A prefix of names that code must not contain.
  static let prefix = "__object_"
  /// The variable with an attribute's value.
  static func variable(_ attribute: String) -> String { prefix + attribute }
  /// The function that converts an assigned value.
  static func check(_ attribute: String) -> String { "__check_" + attribute }

  /// The attribute that is read; nil for other parts.
  var name: String? { if case .attribute(let name) = self { name } else { nil } }
  /// Whether code after this part may run more than once.
  var mayRepeat: Bool { if case .text(_, true) = self { true } else { false } }

  /// The part as Lua code. Values assigned to `attributes` are converted.
  func text(checking attributes: Set<String>) -> String {
    switch self {
    case .text(let text, _): return text
    case .attribute(let name): return Self.variable(name)
    case .assignment(let name, let value):
      let value = value.map { $0.text(checking: attributes) }.joined()
      // On its own line, so that a comment cannot swallow the following text.
      return attributes.contains(name)
        ? "\(Self.variable(name)) = \(Self.check(name))((\(value)\n), \(Self.variable(name)))"
        : "\(Self.variable(name)) = (\(value)\n)"
    }
  }
}
