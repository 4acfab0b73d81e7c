import MoonbasePlatform

/// The common properties of all values of a column.
///
/// The profile starts with all forms possible, and each value removes the forms that it does not
/// have. So one pass over the rows is enough, and memory does not grow with their number.
final class ColumnProfile {
  /// The kinds of fields seen.
  ///
  /// A column may have several kinds.
  struct Kinds: OptionSet {
    /// The bits of the set.
    let rawValue: UInt8
    /// Texts; in csv all values.
    static let text = Self(rawValue: 1)
    /// Numbers of JSON or a database.
    static let number = Self(rawValue: 2)
    /// Booleans of JSON.
    static let truth = Self(rawValue: 4)
    /// Lists and objects of JSON.
    static let nested = Self(rawValue: 8)
    /// Bytes of a database.
    static let binary = Self(rawValue: 16)
  }

  /// The name in the input.
  let name: String
  /// The number of values.
  private(set) var count = 0
  /// The kinds seen so far.
  private(set) var kinds: Kinds = []
  /// The forms that all values so far have.
  private(set) var forms = ValueForms.all
  /// The number of digits after the point, while all numbers have the same.
  private(set) var scale = -1
  /// Whether a number has an exponent.
  private(set) var hasExponents = false
  /// Whether a number has digits after the point.
  private(set) var hasFractions = false
  /// Whether a date has an offset from UTC other than `Z`.
  private(set) var hasOffsets = false
  /// Whether a text is not UTF-8, which makes its row rejected.
  private(set) var hasWrongText = false
  /// The distinct values, and whether values repeat.
  private(set) var distinct: DistinctValues
  /// The values after which only text was possible, because they did not fit all earlier values.
  private(set) var deciders: [String] = []
  /// The forms of the values before the first decider.
  private var formsBefore: ValueForms = []
  /// The remaining number of values to search for further deciders.
  private var looksLeft = 1000
  /// The values that excluded forms, while other forms remained.
  private var losses: [(forms: ValueForms, value: String)] = []
  /// The first value, if it was text only, and the common forms of all later values.
  private var firstText: String?
  /// The common forms of the values after `firstText`.
  private var formsBehindFirst = ValueForms.all
  /// The forms that the first value excluded, if it had others.
  private var firstLoss: (forms: ValueForms, value: String)?
  /// The value after which a numeric column had no single kind of numbers.
  private var numberLoss: String?
  /// The first values, for a comment.
  private(set) var samples: [String] = []

  /// A profile without values. `budget` is shared by the columns of an input.
  init(_ name: String, _ budget: DistinctBudget) {
    self.name = name
    distinct = DistinctValues(budget)
  }

  /// Adds a field. In csv a text may represent any type; in an input with its own numbers it is a text.
  ///
  /// Missing fields and fields without a value are not counted.
  func add(_ field: InputField, textsAreTyped: Bool) {
    switch field.kind {
    case .missing, .none: return
    case .text:
      kinds.insert(.text)
      if textsAreTyped { forms.formIntersection(.typedTexts) }
      look(field.bytes, isText: true)
    case .number:
      kinds.insert(.number)
      forms.formIntersection(.numbers)
      look(field.bytes, isText: false)
    case .bool:
      kinds.insert(.truth)
      forms.formIntersection(.truth)
    case .nested:
      kinds.insert(.nested)
      distinct.stopDistinguishing()
    case .binary: kinds.insert(.binary)
    }
    count += 1
    if [.text, .number, .binary].contains(field.kind) {
      // The profile has verified the range only for a column of integers.
      distinct.add(field.bytes, integer: forms.contains(.integer) ? Int64(field.text ?? "") : nil)
    }
    if samples.count < 3, field.bytes.count < 200, field.kind != .binary { samples.append(field.shownText) }
  }

  /// Notes that the column has text that is not UTF-8.
  func noteWrongText() { hasWrongText = true }

  /// The value that excluded a form, if earlier values had it.
  func decider(against form: ValueForms) -> String? { losses.first { !$0.forms.isDisjoint(with: form) }?.value }

  /// The values that made a column text although it was numeric, or numeric after the first value.
  var textDeciders: [String] {
    if !deciders.isEmpty { return deciders }
    if let firstText, count > 1, !formsBehindFirst.isEmpty { return [firstText] }
    guard !forms.isDisjoint(with: .numbers) else { return [] }
    let first = firstLoss.flatMap { $0.forms.contains(.integer) ? $0.value : nil }
    return [numberLoss ?? first ?? decider(against: .integer)].compactMap(\.self)
  }

  /// The kinds of numbers, each of which corresponds to a type.
  private static let kindsOfNumbers: ValueForms = [.integer, .decimal, .scaled, .double]

  /// Removes the forms that a text does not have.
  private func look(_ text: UnsafeRawBufferPointer, isText: Bool) {
    if forms.isEmpty {
      if !hasWrongText, !text.isUTF8 { hasWrongText = true }
      if firstText != nil, !formsBehindFirst.isEmpty {
        formsBehindFirst.formIntersection(possible(text, among: formsBehindFirst, isText: isText))
      }
      return lookForDecider(text, isText: isText)
    }
    let before = forms
    forms.formIntersection(possible(text, among: before, isText: isText))
    if forms != before { note(text, before) }
    if forms.isEmpty, !text.isUTF8 { hasWrongText = true }
  }

  /// Records the value that removed forms, to be named in a comment.
  private func note(_ text: UnsafeRawBufferPointer, _ before: ValueForms) {
    let value = String(decoding: text.prefix(200), as: UTF8.self)
    if !before.isDisjoint(with: Self.kindsOfNumbers), forms.isDisjoint(with: Self.kindsOfNumbers), !forms.isEmpty {
      numberLoss = value
    }
    if count == 0 {
      if forms.isEmpty { firstText = value } else { firstLoss = (before.subtracting(forms), value) }
    } else if forms.isEmpty {
      (formsBefore, deciders) = (before, [value])
    } else {
      losses.append((before.subtracting(forms), value))
    }
  }

  /// Looks for further values that alone make the column text. At most 1000 values are examined.
  private func lookForDecider(_ text: UnsafeRawBufferPointer, isText: Bool) {
    guard !deciders.isEmpty, deciders.count < 3, looksLeft > 0 else { return }
    looksLeft -= 1
    guard possible(text, among: formsBefore, isText: isText).isDisjoint(with: formsBefore) else { return }
    let value = String(decoding: text.prefix(200), as: UTF8.self)
    if !deciders.contains(value) { deciders.append(value) }
  }

  /// The forms of a text among those that are still possible.
  private func possible(_ text: UnsafeRawBufferPointer, among forms: ValueForms, isText: Bool) -> ValueForms {
    var possible: ValueForms = []
    if !forms.isDisjoint(with: .numbers) { possible.formUnion(number(text, among: forms, isText: isText)) }
    if !forms.isDisjoint(with: [.trueFalse, .yesNo]) { possible.formUnion(FormScanner.truth(text)) }
    if !forms.isDisjoint(with: .dates) {
      let (form, hasOffset) = FormScanner.date(text)
      possible.formUnion(form)
      if hasOffset { hasOffsets = true }
    }
    if !forms.isDisjoint(with: .uuids) { possible.formUnion(FormScanner.uuid(text)) }
    if forms.contains(.uri) { possible.formUnion(FormScanner.uri(text)) }
    return possible
  }

  /// The forms of a number. An exponent in a text counts only if a program wrote it.
  private func number(_ text: UnsafeRawBufferPointer, among forms: ValueForms, isText: Bool) -> ValueForms {
    guard let form = NumberForm(text) else {
      // The spelling of infinite doubles, which an input with its own numbers contains.
      return text.elementsEqual("inf".utf8) || text.elementsEqual("-inf".utf8) ? [.double, .number] : []
    }
    // 12E5 is a code. A number written by a program has a point, or a sign: 1e-05.
    if isText, form.exponent != nil, !text.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "+") }),
      !text.dropFirst().contains(UInt8(ascii: "-"))
    {
      return []
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
