import MoonbasePlatform

/// Values in a file of Xcode's, or in a store's own copy of its model, that are none of their attribute's type.
///
/// Core Data's compiler takes these values. The version hash has neither defaults nor rules, so that a replaced value
/// cannot lock a store out.
extension AttributeDescription {
  /// Replaces each value that does not fit with the one that Core Data has for it. Returns what there is to say, each
  /// as the end of a sentence that begins with the attribute's name.
  package mutating func takeFittingValues() -> [String] {
    var told: [String] = []
    if let fitting = fitting(defaultValue, otherwise: number) {
      told.append("has the default \(shown(defaultValue)), which is not \(type.phrase): \(outcome(of: fitting))")
      defaultValue = fitting
    }
    validation.minimum = fittingBound(validation.minimum, rounding: .up, name: "minimum", told: &told)
    validation.maximum = fittingBound(validation.maximum, rounding: .down, name: "maximum", told: &told)
    if let allowed = validation.allowedValues {
      let fitting = allowed.filter { (try? checked($0)) != nil }
      if fitting.count < allowed.count {
        told.append("has allowed values that are not \(type.phrase): they are left out")
        validation.allowedValues = fitting
      }
    }
    for index in elements.indices {
      let name = elements[index].name
      told += elements[index].takeFittingValues().map { "has the element \(name), which \($0)" }
    }
    return told
  }

  private func fittingBound(
    _ bound: Value?, rounding rule: FloatingPointRoundingRule, name: String, told: inout [String]
  ) -> Value? {
    guard let value = bound else { return nil }
    guard let fitting = fitting(value, otherwise: { limit($0, rounding: rule) }) else { return value }
    told.append(
      "has the \(name) \(shown(value)), which is not \(type.phrase): "
        + (fitting.isNull ? "it is left out" : "\(shown(fitting)) stands for it"))
    // Not by a conditional: nil would be the value of none.
    guard !fitting.isNull else { return nil }
    return fitting
  }

  /// The value that replaces one that does not fit; nil for a value that fits.
  private func fitting(_ value: Value, otherwise other: (Value) -> Value) -> Value? {
    if (try? checked(value)) != nil { return nil }
    return (try? checked(other(value))) ?? .null
  }

  private func shown(_ value: Value) -> String { value.beginning ?? value.typeDescription }

  private func outcome(of value: Value) -> String {
    value.isNull ? "it is left out" : "it is \(shown(value)), as Core Data reads it"
  }

  // MARK: As Foundation reads them

  /// A default as NSString and NSNumber give it in the attribute's type.
  private func number(_ value: Value) -> Value {
    switch (type, value) {
    case (.boolean, .string(let text)): .bool(Self.truth(text))
    case (.boolean, .int(let number)): .bool(number != 0)
    case (.boolean, .double(let number)): .bool(number != 0)
    case (.integer16, .string(let text)), (.integer32, .string(let text)), (.integer64, .string(let text)):
      .int(Int64(Self.digits(text)) ?? 0)
    case (.integer16, .bool(let truth)), (.integer32, .bool(let truth)), (.integer64, .bool(let truth)):
      .int(truth ? 1 : 0)
    case (.integer16, .double(let number)), (.integer32, .double(let number)), (.integer64, .double(let number)):
      Int64(exactly: number.rounded(.towardZero)).map(Value.int) ?? .null
    case (.double, .string(let text)), (.float, .string(let text)): .double(Double(Self.digits(text)) ?? 0)
    case (.decimal, .double(let number)): Decimal(literal: "\(number)").map(Value.decimal) ?? .null
    case (.date, .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.date, .int(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    default: .null
    }
  }

  /// The sign and the digits that a text begins with.
  private static func digits(_ text: String) -> Substring {
    let text: Substring = text.drop { $0.isWhitespace }
    let sign = text.prefix(1).filter { $0 == "-" || $0 == "+" }
    return text.prefix(sign.count + text.dropFirst(sign.count).prefix { ("0"..."9").contains($0) }.count)
  }

  /// `boolValue` of NSString: behind spaces, signs and zeros stands a digit or the beginning of yes or true.
  private static func truth(_ text: String) -> Bool {
    let rest: Substring = text.drop { $0.isWhitespace || $0 == "-" || $0 == "+" }.drop { $0 == "0" }
    return rest.first.map { "YyTt123456789".contains($0) } ?? false
  }

  // MARK: Bounds

  /// The nearest bound of the type that says the same of all its values.
  private func limit(_ value: Value, rounding rule: FloatingPointRoundingRule) -> Value {
    let number: Double
    switch value {
    case .int(let integer): number = Double(integer)
    case .double(let double): number = double
    case .decimal(let decimal): number = Double("\(decimal)") ?? .nan
    default: return .null
    }
    if number.isNaN { return .null }
    return switch type {
    case .integer16: .int(Int64(Int16(clamping: number.rounded(rule))))
    case .integer32: .int(Int64(Int32(clamping: number.rounded(rule))))
    case .integer64: .int(Int64(clamping: number.rounded(rule)))
    case .float: .double(Double(max(-.greatestFiniteMagnitude, min(.greatestFiniteMagnitude, Float(number)))))
    case .double: .double(number)
    case .decimal: Decimal(literal: "\(number)").map(Value.decimal) ?? .null
    case .date: .date(Date(timeIntervalSinceReferenceDate: number))
    default: .null
    }
  }
}

extension FixedWidthInteger {
  /// The nearest integer of the type.
  fileprivate init(clamping number: Double) {
    self = Self(exactly: number) ?? (number < 0 ? .min : .max)
  }
}
