import MoonbasePlatform

/// What all values of a column have in common.
final class ColumnProfile {
  /// The kinds of fields that came.
  struct Kinds: OptionSet {
    let rawValue: UInt8
    static let text = Self(rawValue: 1)
    static let number = Self(rawValue: 2)
    static let truth = Self(rawValue: 4)
    static let nested = Self(rawValue: 8)
    static let binary = Self(rawValue: 16)
  }

  /// As the input has it.
  let name: String
  /// How many values there are.
  private(set) var count = 0
  private(set) var kinds: Kinds = []
  private(set) var forms = ValueForms.all
  /// How many digits each number has behind its point, while all have as many.
  private(set) var scale = -1
  private(set) var hasExponents = false
  private(set) var hasFractions = false
  private(set) var hasOffsets = false
  /// A text that is no UTF-8, with which its row is rejected.
  private(set) var hasWrongText = false
  private(set) var distinct: DistinctValues
  /// The first values, for a comment.
  private(set) var samples: [String] = []

  init(_ name: String, _ budget: DistinctBudget) {
    self.name = name
    distinct = DistinctValues(budget)
  }

  /// Takes in what a record says. A text may be written for anything in csv; it is a text where the input has numbers of its own.
  func add(_ field: InputField, textsAreTyped: Bool) {
    switch field.kind {
    case .missing, .none: return
    case .text:
      kinds.insert(.text)
      if textsAreTyped { forms.formIntersection(.typedTexts) }
      look(field.bytes)
    case .number:
      kinds.insert(.number)
      forms.formIntersection(.numbers)
      look(field.bytes)
    case .bool:
      kinds.insert(.truth)
      forms.formIntersection(.truth)
    case .nested:
      kinds.insert(.nested)
      distinct.giveUp()
    case .binary: kinds.insert(.binary)
    }
    count += 1
    if [.text, .number, .binary].contains(field.kind) {
      // Only of a column of integers the profile has made sure that each fits.
      distinct.add(field.bytes, integer: forms.contains(.integer) ? Int64(field.text ?? "") : nil)
    }
    if samples.count < 3, field.bytes.count < 200, field.kind != .binary { samples.append(field.shownText) }
  }

  private func look(_ text: UnsafeRawBufferPointer) {
    if forms.isEmpty {
      if !hasWrongText, !text.isUTF8 { hasWrongText = true }
      return
    }
    var possible: ValueForms = []
    if !forms.isDisjoint(with: .numbers) { possible.formUnion(number(text)) }
    if !forms.isDisjoint(with: [.trueFalse, .yesNo]) { possible.formUnion(FormScanner.truth(text)) }
    if !forms.isDisjoint(with: .dates) {
      let (form, hasOffset) = FormScanner.date(text)
      possible.formUnion(form)
      if hasOffset { hasOffsets = true }
    }
    if !forms.isDisjoint(with: .uuids) { possible.formUnion(FormScanner.uuid(text)) }
    if forms.contains(.uri) { possible.formUnion(FormScanner.uri(text)) }
    forms.formIntersection(possible)
    if forms.isEmpty, !text.isUTF8 { hasWrongText = true }
  }

  private func number(_ text: UnsafeRawBufferPointer) -> ValueForms {
    guard let form = NumberForm(text) else {
      // As doubles are written that are none; an input with numbers of its own has them in their place.
      return text.elementsEqual("inf".utf8) || text.elementsEqual("-inf".utf8) ? [.double, .number] : []
    }
    var possible: ValueForms = []
    if form.exponent != nil { hasExponents = true }
    if form.fraction > 0 { hasFractions = true }
    if scale < 0 { scale = form.fraction }
    if forms.contains(.integer), form.isInteger(text) { possible.insert(.integer) }
    if form.isDecimal {
      if !form.endsWithZero { possible.insert(.decimal) }
      if form.fraction == scale { possible.insert(.scaled) }
    }
    if forms.contains(.double), form.isWrittenAsDouble(text) { possible.insert(.double) }
    if forms.contains(.number), form.isDouble(text) { possible.insert(.number) }
    return possible
  }
}
