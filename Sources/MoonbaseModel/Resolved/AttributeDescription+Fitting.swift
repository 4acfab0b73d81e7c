import MoonbasePlatform

/// Adapts values that do not fit their attribute's type, in Xcode's files and in a store's copy of its model.
///
/// Core Data's compiler accepts such values. The version hash includes neither defaults nor rules, so a replaced value
/// cannot make a store incompatible.
extension AttributeDescription {
  /// Replaces each value that does not fit by the value that Core Data would use. Returns the warnings, each as the end
  /// of a sentence that begins with the attribute's name.
  package mutating func replaceMisfits() -> [String] {
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
      told += elements[index].replaceMisfits().map { "has the element \(name), which \($0)" }
    }
    return told
  }

  /// The bound that fits, with a warning in `told` if it differs. A minimum is rounded up and a
  /// maximum down.
  private func fittingBound(
    _ bound: Value?, rounding rule: FloatingPointRoundingRule, name: String, told: inout [String]
  ) -> Value? {
    guard let value = bound else { return nil }
    guard let fitting = fitting(value, otherwise: { limit($0, rounding: rule) }) else { return value }
    told.append(
      "has the \(name) \(shown(value)), which is not \(type.phrase): "
        + (fitting.isNull ? "it is left out" : "\(shown(fitting)) stands for it"))
    // An `if` statement instead of a conditional expression, in which nil would mean an optional without value.
    guard !fitting.isNull else { return nil }
    return fitting
  }

  /// The replacement of a value that does not fit; nil if the value fits.
  private func fitting(_ value: Value, otherwise other: (Value) -> Value) -> Value? {
    if (try? checked(value)) != nil { return nil }
    return (try? checked(other(value))) ?? .null
  }

  /// A value for a message.
  private func shown(_ value: Value) -> String { value.beginning ?? value.typeDescription }

  /// The consequence of a replacement, for a message.
  private func outcome(of value: Value) -> String {
    value.isNull ? "it is left out" : "it is \(shown(value)), as Core Data reads it"
  }

  // MARK: As Foundation reads them

  /// A default converted to the attribute's type as NSString and NSNumber convert it.
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

  /// The leading sign and digits of a text.
  private static func digits(_ text: String) -> Substring {
    let text: Substring = text.drop { $0.isWhitespace }
    let sign = text.prefix(1).filter { $0 == "-" || $0 == "+" }
    return text.prefix(sign.count + text.dropFirst(sign.count).prefix { ("0"..."9").contains($0) }.count)
  }

  /// The `boolValue` of NSString: true if a nonzero digit or the beginning of yes or true follows spaces, signs and
  /// zeros.
  private static func truth(_ text: String) -> Bool {
    let rest: Substring = text.drop { $0.isWhitespace || $0 == "-" || $0 == "+" }.drop { $0 == "0" }
    return rest.first.map { "YyTt123456789".contains($0) } ?? false
  }

  // MARK: Bounds

  /// The nearest bound of the attribute's type that admits the same values.
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
