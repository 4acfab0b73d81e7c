import MoonbasePlatform

/// The functions of `moonbase.text` that need Foundation: case, accents, characters and order. Lua itself handles bytes
/// only.
///
/// Each function reads its arguments from the call and returns its result by it. Strings that are not UTF-8 are errors,
/// except for `repair`.
extension LuaState {
  /// The functions by name; `moonbase.text` documents them.
  static var textFunctions: [(String, (inout LuaCall) throws -> Void)] {
    [
      ("lower", { try mapText(&$0) { $0.lowercased() } }),
      ("upper", { try mapText(&$0) { $0.uppercased() } }),
      ("title", { try mapText(&$0) { $0.capitalized } }),
      ("fold", fold),
      ("normalize", normalize),
      (
        "repair",
        { call in call.return(try call.withBytes(0) { String(decoding: $0, as: UTF8.self) }) }
      ),
      ("length", { call in call.return(try chargedText(call, at: 0).count) }),
      (
        "characters",
        { call in
          let text = try chargedText(call, at: 0)
          try call.return(.table(try call.state.list(text.map { .text(String($0)) })))
        }
      ),
      ("sub", part),
      ("compare", compare),
    ]
  }

  /// Reads a text argument, and charges an instruction per byte for the time that Foundation takes.
  private static func chargedText(_ call: borrowing LuaCall, at index: Int) throws -> String {
    let text = try call.text(index)
    call.state.charge(Int64(text.utf8.count))
    return text
  }

  /// Applies `body` to the first argument.
  private static func mapText(_ call: inout LuaCall, _ body: (String) -> String) throws {
    let mapped = body(try chargedText(call, at: 0))
    // An interrupted result is not returned to the script.
    try HostWork.charge()
    call.return(mapped)
  }

  /// The option `c` ignores case, `d` diacritics.
  private static func fold(_ call: inout LuaCall) throws {
    let options = try call.name(1)
    guard options.allSatisfy({ $0 == "c" || $0 == "d" }) else {
      throw call.argumentError(1, problem: "'\(options)' is none of \"c\", \"d\" and \"cd\"")
    }
    try mapText(&call) {
      $0.folded(caseInsensitive: options.contains("c"), diacriticInsensitive: options.contains("d"))
    }
  }

  /// The forms are those of Unicode: NFC, NFD, NFKC and NFKD.
  private static func normalize(_ call: inout LuaCall) throws {
    let name = try call.name(1)
    guard let form = String.NormalizationForm(rawValue: name) else {
      throw call.argumentError(1, problem: "'\(name)' is none of NFC, NFD, NFKC and NFKD")
    }
    try mapText(&call) { $0.mapped { $0.normalized(form) } }
  }

  /// The part between two positions, with the rules of `string.sub` but counted in characters.
  private static func part(_ call: inout LuaCall) throws {
    let text = try chargedText(call, at: 0)
    let first = try call.integer(1)
    let last = try call.integer(2)
    let count = Int64(text.count)
    let from = max(first < 0 ? count &+ first &+ 1 : first, 1)
    let to = min(last < 0 ? count &+ last &+ 1 : last, count)
    guard from <= to else { return call.return("") }
    let start = text.index(text.startIndex, offsetBy: Int(from - 1))
    call.return(String(text[start..<text.index(start, offsetBy: Int(to - from + 1))]))
  }

  // MARK: Order

  /// At most 64, because making a locale takes long.
  private static let locales = Lock<[String: Locale]>([:])

  /// Raises an error for anything that is no locale's identifier.
  private static func locale(_ call: borrowing LuaCall, at index: Int) throws -> Locale {
    let name = try call.name(index)
    guard name.utf8.count <= 40, name.utf8.allSatisfy({ $0 < 0x80 && ($0 == 0x2D || $0 == 0x5F || $0.isLetterOrDigit) })
    else { throw call.argumentError(index, problem: "'\(name.prefix(40))' is no locale, such as \"de\" or \"pt_BR\"") }
    let locale = locales.withLock { known -> Locale? in
      if let locale = known[name] { return locale }
      guard isKnown(name) else { return nil }
      if known.count >= 64 { known = [:] }
      let locale = Locale(identifier: name)
      known[name] = locale
      return locale
    }
    guard let locale else { throw call.argumentError(index, problem: "no locale is named '\(name)'") }
    return locale
  }

  /// Whether Foundation knows the language. For an unknown language it would silently use the default order.
  private static func isKnown(_ name: String) -> Bool {
    let language = name.split { $0 == "-" || $0 == "_" }.first.map { $0.lowercased() } ?? ""
    return name.isEmpty || languages.contains(language)
  }

  /// The codes of all languages, such as `de`.
  private static let languages = Set(
    Locale.availableIdentifiers.compactMap { $0.split { $0 == "-" || $0 == "_" }.first?.lowercased() })

  /// Returns -1, 0 or 1. Numbers within texts compare by value, and case decides last.
  private static func compare(_ call: inout LuaCall) throws {
    let one = try chargedText(call, at: 0)
    let other = try chargedText(call, at: 1)
    let order = one.compare(
      other, options: [.caseInsensitive, .numeric, .widthInsensitive, .forcedOrdering], range: nil,
      locale: try locale(call, at: 2))
    call.return(order.rawValue)
  }
}

extension UInt8 {
  /// ASCII only.
  fileprivate var isLetterOrDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
  }
}
