/// The functions that expressions can call, by their NSExpression names.
///
/// The cases are in the order of the documentation: collections, arithmetic, text, others,
/// positions, methods. `find(_:arguments:)` resolves a call, `evaluate(_:)` computes it.
@usableFromInline
package enum PredicateFunction: String, Sendable, CaseIterable {
  // Over collections.
  case sum = "sum:"
  case count = "count:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"
  // Arithmetic. Operators with a sign, except the remainder, are printed with it.
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case squareRoot = "sqrt:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case absolute = "abs:"
  case truncate = "trunc:"
  case random = "random"
  case randomBelow = "random:"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"
  // Text.
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case canonical = "canonical:"
  // Date, cast, collections and random numbers.
  case now = "now"
  case noIndex = "noindex:"
  case cast = "castObject:toType:"
  case element = "objectFrom:withIndex:"
  // Positions in an index expression.
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
  // Methods that `FUNCTION(target, "selector")` can call.
  case length = "length"
  case uppercaseString = "uppercaseString"
  case lowercaseString = "lowercaseString"
  case appendString = "stringByAppendingString:"
  case substringFrom = "substringFromIndex:"
  case substringTo = "substringToIndex:"
  case integerValue = "integerValue"
  case doubleValue = "doubleValue"
  case boolValue = "boolValue"
  case stringValue = "stringValue"
  case addInterval = "dateByAddingTimeInterval:"
  case intervalSinceReferenceDate = "timeIntervalSinceReferenceDate"
  case intervalSince1970 = "timeIntervalSince1970"
  case capitalizedString = "capitalizedString"
  // Methods of URLs and UUIDs.
  case absoluteString = "absoluteString"
  case scheme = "scheme"
  case host = "host"
  case port = "port"
  case path = "path"
  case query = "query"
  case fragment = "fragment"
  case lastPathComponent = "lastPathComponent"
  case pathExtension = "pathExtension"
  case uuidString = "UUIDString"

  /// The NSExpression name.
  ///
  /// For example, `add:to:`.
  var name: String { rawValue }

  /// The name up to its first colon, which is allowed before a parenthesis.
  var shortName: String { String(rawValue.prefix { $0 != ":" }) }

  /// Whether the function is called by `FUNCTION(target, "selector", ...)` only.
  package var isMethod: Bool {
    switch self {
    case .length, .uppercaseString, .lowercaseString, .appendString, .substringFrom, .substringTo, .integerValue,
      .doubleValue, .boolValue, .stringValue, .addInterval, .intervalSinceReferenceDate, .intervalSince1970,
      .capitalizedString, .absoluteString, .scheme, .host, .port, .path, .query, .fragment, .lastPathComponent,
      .pathExtension, .uuidString:
      true
    default: false
    }
  }

  /// Whether this is FIRST, LAST or SIZE.
  var isPosition: Bool { CollectionPosition(rawValue: rawValue) != nil }

  /// Whether the argument is a collection. Several arguments are treated as its elements.
  var takesCollection: Bool {
    switch self {
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation: true
    default: false
    }
  }

  /// The number of arguments, including the target of a method.
  package var argumentCount: Int {
    let colons = rawValue.count { $0 == ":" }
    return isMethod ? colons + 1 : colons
  }

  /// The number of arguments in words.
  var arguments: String {
    argumentCount == 0 ? "no arguments" : argumentCount == 1 ? "1 argument" : "\(argumentCount) arguments"
  }

  /// The arguments of an example call, for messages: `name, "length"`.
  var example: String {
    let target =
      switch self {
      case .addInterval, .intervalSince1970, .intervalSinceReferenceDate: "born"
      case .absoluteString, .scheme, .host, .port, .path, .query, .fragment, .lastPathComponent, .pathExtension: "url"
      case .uuidString: "id"
      default: "name"
      }
    let operand = argumentCount == 1 ? "" : ", …"
    return "\(target), \"\(rawValue)\"\(operand)"
  }

  /// The method with this name, with or without its colon.
  package static func method(_ name: String) -> PredicateFunction? {
    isTooLong(name) ? nil : allCases.first { $0.isMethod && ($0.rawValue == name || $0.shortName == name) }
  }

  /// The functions by full and short name, in lower case, with aliases such as `avg`.
  private static let byLowercaseName: [String: PredicateFunction] = {
    let callable = allCases.filter { !$0.isMethod && !$0.isPosition }
    let full = callable.map { ($0.rawValue.lowercased(), $0) }
    let short = callable.map { ($0.shortName.lowercased(), $0) }
    let aliases: [(String, PredicateFunction)] = [
      ("avg", .average), ("ceil", .ceiling), ("pow", .power), ("subtract", .subtract), ("upper", .uppercase),
      ("lower", .lowercase),
    ]
    return Dictionary(full + short + aliases) { first, _ in first }
  }()

  /// The function with this full or short name, ignoring case.
  static func named(_ name: String) -> PredicateFunction? {
    isTooLong(name) ? nil : byLowercaseName[name.lowercased()]
  }

  /// The function with this exact name, or its callable name.
  init?(selector: String) {
    guard !Self.isTooLong(selector), let function = Self(rawValue: selector) ?? Self.named(selector) else { return nil }
    self = function
  }

  /// Whether the name is longer than any function's. Names may come from values, and lookups of a hostile name take
  /// time quadratic in its length.
  private static func isTooLong(_ name: String) -> Bool { name.utf8.count > 60 }

  /// The function that a call with this number of arguments denotes.
  static func find(_ name: String, arguments count: Int) -> PredicateFunction? {
    guard let function = named(name) else { return nil }
    if function == .random || function == .randomBelow { return count == 0 ? .random : count == 1 ? .randomBelow : nil }
    if function.takesCollection { return count > 0 ? function : nil }
    return count == function.argumentCount ? function : nil
  }
}

/// A named position in a collection.
enum CollectionPosition: String {
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
}
