import MoonbasePlatform

extension PredicateFunction {
  /// Whether this is an arithmetic operator.
  var isArithmetic: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .modulus, .power: true
    default: false
    }
  }

  /// The value of an arithmetic operator.
  ///
  /// Null operands give null. Throws `.evaluation` for operands that are no numbers.
  @usableFromInline
  func arithmetic(_ left: Value, _ right: Value) throws(ModelError) -> Value {
    left.isNull || right.isNull ? .null : try Arithmetic.evaluate(self, left, right)
  }

  /// The function's value. A null argument gives null; functions over collections skip null elements.
  ///
  /// Throws `.evaluation` for arguments that the function does not accept.
  @usableFromInline
  package func evaluate(_ arguments: [Value]) throws(ModelError) -> Value {
    if takesCollection { return try reduce(arguments[0]) }
    switch self {
    case .now: return .date(Date())
    case .first, .last, .size: return .null  // meaningful only within an index
    case .random: return .double(Double.random(in: 0..<1))
    default: break
    }
    if arguments.contains(where: \.isNull) { return .null }
    switch self {
    case .cast: return try cast(arguments[0], to: arguments[1])
    case .noIndex: return arguments[0]
    case .element: return try element(arguments[0], at: arguments[1])
    case .add, .subtract, .multiply, .divide, .modulus, .power:
      return try Arithmetic.evaluate(self, arguments[0], arguments[1])
    default: break
    }
    if let value = try bits(arguments) { return value }
    if let value = try method(arguments) { return value }
    return try single(arguments[0])
  }

  /// The error that the function does not accept a value.
  func refusal(of value: Value) -> ModelError {
    ModelError(.evaluation, message: "\(name) has no meaning for a value of type \(value.typeDescription)")
  }

  // MARK: One argument

  /// The value of a function of a single argument. The switch lists all functions, so that a new function must be
  /// placed.
  private func single(_ value: Value) throws(ModelError) -> Value {
    switch self {
    case .uppercase: return .string(try text(value).uppercased())
    case .lowercase: return .string(try text(value).lowercased())
    case .canonical: return .string(Options([.caseInsensitive, .diacriticInsensitive]).fold(try text(value)))
    case .absolute, .floor, .ceiling, .truncate: return try rounded(value)
    case .onesComplement: return .int(~(try integer(value)))
    case .randomBelow:
      let bound = try integer(value)
      return bound > 0 ? .int(Int64.random(in: 0..<bound)) : .null
    case .squareRoot: return .number(try double(value).squareRoot())
    case .logarithm: return .number(log10(try double(value)))
    case .naturalLogarithm: return .number(log(try double(value)))
    case .exponential: return .number(exp(try double(value)))
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .add, .subtract, .multiply, .divide,
      .modulus, .power, .random, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .now, .noIndex, .cast,
      .element, .first, .last, .size, .length, .uppercaseString, .lowercaseString, .appendString, .substringFrom,
      .substringTo, .integerValue, .doubleValue, .boolValue, .stringValue, .addInterval, .intervalSinceReferenceDate,
      .intervalSince1970, .capitalizedString, .absoluteString, .scheme, .host, .port, .path, .query, .fragment,
      .lastPathComponent, .pathExtension, .uuidString:
      throw refusal(of: value)
    }
  }

  /// The options of string comparisons.
  private typealias Options = Predicate.Comparison.Options

  /// The value of a rounding function or `abs:`. Integers are unchanged, except for `abs:`.
  private func rounded(_ value: Value) throws(ModelError) -> Value {
    switch value.asNumber {
    case .int(let number): return self == .absolute ? .int(number == .min ? .max : abs(number)) : value
    case .decimal(let number):
      if self == .absolute { return .decimal(abs(number)) }
      var source = number
      var result = Decimal()
      let isDown = self == .floor || self == .truncate && number > 0
      NSDecimalRound(&result, &source, 0, isDown ? .down : .up)
      return .decimal(result)
    case .double(let number):
      switch self {
      case .absolute: return .double(abs(number))
      case .floor: return .double(number.rounded(.down))
      case .ceiling: return .double(number.rounded(.up))
      case .truncate: return .double(number.rounded(.towardZero))
      default: throw refusal(of: value)
      }
    default: throw refusal(of: value)
    }
  }

  /// A text argument, charged by its length.
  func text(_ value: Value) throws(ModelError) -> String {
    guard case .string(let text) = value else { throw refusal(of: value) }
    try ModelError.charge(text.utf8.count >> 4)
    return text
  }

  /// A number argument as a double. Throws `.evaluation` for other values.
  func double(_ value: Value) throws(ModelError) -> Double {
    guard let number = value.asNumber?.asDouble else { throw refusal(of: value) }
    return number
  }

  /// A number argument as an integer, truncated. Throws `.evaluation` beyond 64 bits.
  func integer(_ value: Value) throws(ModelError) -> Int64 {
    switch value.asNumber {
    case .int(let number): return number
    case .double(let number):
      if let exact = Int64(exactly: number.rounded(.towardZero)) { return exact }
    case .decimal(let number):
      var (source, whole) = (number, Decimal())
      NSDecimalRound(&whole, &source, 0, number < 0 ? .up : .down)
      if let exact = Int64(whole.description) { return exact }
    default: break
    }
    throw refusal(of: value)
  }

  // MARK: More arguments

  /// The value of a bitwise function; nil for other functions.
  private func bits(_ arguments: [Value]) throws(ModelError) -> Value? {
    switch self {
    case .bitwiseAnd: return .int(try integer(arguments[0]) & integer(arguments[1]))
    case .bitwiseOr: return .int(try integer(arguments[0]) | integer(arguments[1]))
    case .bitwiseXor: return .int(try integer(arguments[0]) ^ integer(arguments[1]))
    case .leftShift: return .int(try integer(arguments[0]) << integer(arguments[1]))
    case .rightShift: return .int(try integer(arguments[0]) >> integer(arguments[1]))
    default: return nil
    }
  }

  /// The value of `CAST`; null if the value does not convert.
  private func cast(_ value: Value, to type: Value) throws(ModelError) -> Value {
    guard case .string(let name) = type, let type = CastType(name: name) else {
      throw ModelError(.evaluation, message: "CAST needs the name of a type such as NSNumber, NSString or NSDate")
    }
    return type.convert(value) ?? .null
  }

  /// The entry of a map for a key.
  private func element(_ collection: Value, at key: Value) throws(ModelError) -> Value {
    guard case .map(let map) = collection, case .string(let key) = key else { throw refusal(of: collection) }
    return map.value(exactly: key) ?? .null
  }

  /// The value of a method; nil for other functions.
  private func method(_ arguments: [Value]) throws(ModelError) -> Value? {
    let target = arguments[0]
    switch self {
    case .length: return .int(Int64(try text(target).utf16.count))
    case .uppercaseString: return .string(try text(target).uppercased())
    case .lowercaseString: return .string(try text(target).lowercased())
    case .appendString: return .string(try appended(text(target), text(arguments[1])))
    case .substringFrom: return .string(String(try text(target).dropFirst(try count(arguments[1]))))
    case .substringTo: return .string(String(try text(target).prefix(try count(arguments[1]))))
    case .integerValue: return CastType.number.convert(target).flatMap { try? .int(integer($0)) } ?? .int(0)
    case .doubleValue: return .double(CastType.number.convert(target)?.asDouble ?? 0)
    case .boolValue: return .bool(CastType.number.convert(target)?.asDouble ?? 0 != 0)
    case .stringValue: return target.text.map(Value.string) ?? .null
    case .addInterval: return try Arithmetic.evaluate(.add, target, arguments[1])
    case .intervalSinceReferenceDate: return .double(try date(target).timeIntervalSinceReferenceDate)
    case .intervalSince1970: return .double(try date(target).timeIntervalSince1970)
    case .capitalizedString: return .string(try text(target).capitalized)
    case .absoluteString, .scheme, .host, .port, .path, .query, .fragment, .lastPathComponent, .pathExtension:
      return part(of: try url(target))
    case .uuidString: return .string(try uuid(target).uuidString)
    default: return nil
    }
  }

  /// The concatenation. Memory is required for the result and for the buffer, which grows by doubling.
  private func appended(_ first: String, _ second: String) throws(ModelError) -> String {
    try HostMemory.requireForModel(3 &* (first.utf8.count &+ second.utf8.count))
    return first + second
  }

  /// A number of characters, not negative.
  private func count(_ value: Value) throws(ModelError) -> Int { Swift.max(0, Int(try integer(value))) }

  /// A date argument. Throws `.evaluation` for other values.
  private func date(_ value: Value) throws(ModelError) -> Date {
    guard case .date(let date) = value else { throw refusal(of: value) }
    return date
  }
}

extension PredicateFunction {
  /// A URL argument. Throws `.evaluation` for other values.
  private func url(_ value: Value) throws(ModelError) -> URL {
    guard case .uri(let url) = value else { throw refusal(of: value) }
    return url
  }

  /// A UUID argument. Throws `.evaluation` for other values.
  private func uuid(_ value: Value) throws(ModelError) -> UUID {
    guard case .uuid(let uuid) = value else { throw refusal(of: value) }
    return uuid
  }

  /// The part of a URL that the method names.
  private func part(of url: URL) -> Value {
    let text: String? =
      switch self {
      case .absoluteString: url.absoluteString
      case .scheme: url.scheme
      case .host: url.host
      case .path: url.path
      case .query: url.query
      case .fragment: url.fragment
      case .lastPathComponent: url.lastPathComponent
      case .pathExtension: url.pathExtension
      default: nil
      }
    if self == .port { return url.port.map { .int(Int64($0)) } ?? .null }
    return text.map(Value.string) ?? .null
  }
}

extension Value {
  /// The number as a Double.
  package var asDouble: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    // By way of text, because `Decimal`'s own conversion is off by a bit for many values.
    case .decimal(let value): Double(value.description)
    case .bool(let value): value ? 1 : 0
    default: nil
    }
  }
}
