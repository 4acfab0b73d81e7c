import MoonbaseModel
import MoonbasePlatform

/// An attribute that accepts all values of a column, with the reasons.
///
/// The type is the strictest that keeps every value of the column. The reasons become comments of
/// the model, so that a person can correct the guess.
struct AttributeGuess {
  /// The attribute: name, type, optionality and allowed values.
  let attribute: AttributeDescription
  /// Comment lines.
  let reasons: [String]

  /// The attribute for a column of `rows` rows. A database's declaration adds information.
  init(_ profile: ColumnProfile, named name: String, rows: Int, declared: DeclaredColumn? = nil) {
    let (type, reason) = declared?.type(of: profile) ?? Self.type(of: profile)
    var attribute = AttributeDescription(name, type: type)
    attribute.isOptional = declared.map { !$0.isRequired } ?? (rows == 0) || profile.count < rows
    if name != profile.name { attribute.userInfo[ImportColumns.columnKey] = .string(profile.name) }
    let words = declared.map { $0.declaration.isEmpty ? "" : "\($0.declaration.shownInComment): " } ?? ""
    var reasons = [words + Self.sentence(profile, reason, rows: rows)]
    if type == .string, declared?.isKey != true, let values = Self.enumeration(profile) {
      attribute.validation.allowedValues = values.map(Value.string)
      reasons.append(
        "one_of: \(values.count) different values in \(profile.count) rows; without it other values are allowed")
    }
    (self.attribute, self.reasons) = (attribute, reasons)
  }

  /// The comment on the type: reason, deciding values, samples, and the number of missing values.
  private static func sentence(_ profile: ColumnProfile, _ reason: String, rows: Int) -> String {
    guard profile.count > 0 else {
      return rows == 0 ? "no row to guess from" : "no value in any of \(rows) rows: its type is not known"
    }
    let samples = profile.samples.map(\.shownInComment)
    let isOne = profile.distinct.few?.count == 1
    let shown =
      samples.isEmpty
      ? "" : isOne ? "always \(samples[0])" : "as \(Array(Set(samples)).sorted().joined(separator: ", "))"
    let deciders = deciders(profile)
    let absent = profile.count < rows ? "no value in \(rows - profile.count) of \(rows) rows" : ""
    return [reason, deciders, shown, absent].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// The values that decided the type, if earlier values allowed another type.
  private static func deciders(_ profile: ColumnProfile) -> String {
    guard profile.kinds == .text || profile.kinds == .number else { return "" }
    let type = type(of: profile).0
    let values =
      switch type {
      case .string: profile.textDeciders
      case .decimal, .double: [profile.decider(against: .integer)].compactMap(\.self)
      default: [String]()
      }
    return values.isEmpty ? "" : "decided by \(values.map(\.shownInComment).joined(separator: ", "))"
  }

  // MARK: Types

  /// Whether the column has both booleans in a single spelling, or so many of one boolean that others are unlikely.
  private static func areTruths(_ profile: ColumnProfile) -> Bool {
    guard let few = profile.distinct.few else { return false }
    let values = Set(few.map { String(decoding: $0, as: UTF8.self) })
    let spellings: [Set<String>] = [["true", "false"], ["yes", "no"]].flatMap { pair -> [Set<String>] in
      [Set(pair), Set(pair.map(\.capitalized)), Set(pair.map { $0.uppercased() })]
    }
    return spellings.contains(where: values.isSubset) && (values.count == 2 || profile.count > 20)
  }

  /// The type for a profile, with the reason in words.
  ///
  /// The order of the checks matters: nested values, bytes, booleans, numbers, dates, UUIDs, URIs,
  /// and text for the rest.
  static func type(of profile: ColumnProfile) -> (AttributeType, String) {
    let (forms, kinds) = (profile.forms, profile.kinds)
    if kinds.isEmpty { return (.string, "") }
    if kinds.contains(.nested) {
      return (.transformable, kinds == .nested ? "lists or objects" : "lists, objects and others")
    }
    if kinds.contains(.binary), profile.hasWrongText {
      return (kinds == .binary ? .binaryData : .transformable, "texts that are no UTF-8, which are kept as their bytes")
    }
    if kinds == .binary { return (.binaryData, "bytes") }
    if kinds.contains(.binary) { return (.transformable, "bytes and others: each is kept as what it is") }
    if forms.contains(.truth) { return (.boolean, "truth values") }
    if !forms.isDisjoint(with: [.trueFalse, .yesNo]) {
      guard areTruths(profile) else { return (.string, "text, for it has not both truth values in one spelling") }
      if forms.contains(.trueFalse) { return (.boolean, "true or false") }
      return (.boolean, "yes or no, which come back as true or false")
    }
    if let number = number(profile) { return number }
    if let date = date(profile) { return date }
    if forms.contains(.smallUUID), !forms.contains(.capitalUUID) {
      return (.uuid, "UUIDs, which come back in capitals")
    }
    if !forms.isDisjoint(with: .uuids) { return (.uuid, "UUIDs") }
    if forms.contains(.uri) { return (.uri, "URIs") }
    return (.string, mixture(kinds))
  }

  /// The reason for text, by the kinds of fields.
  private static func mixture(_ kinds: ColumnProfile.Kinds) -> String {
    switch kinds {
    case .text: "text"
    case .number: "numbers that no number type has all digits of, kept as text"
    default: "texts, numbers and truth values mixed, kept as text: 1 and \"1\" are one then"
    }
  }

  /// The number type for a profile; nil if the column is not numeric.
  private static func number(_ profile: ColumnProfile) -> (AttributeType, String)? {
    let forms = profile.forms
    if forms.contains(.integer) { return (.integer64, "whole numbers") }
    let isScaled = forms.contains(.scaled) && profile.scale > 0
    if isScaled, profile.scale == 2 || !forms.contains(.double) {
      let places = profile.scale == 1 ? "one digit" : "\(profile.scale) digits"
      return (.decimal, "numbers with \(places) behind the point; zeros at the end do not come back")
    }
    if forms.contains(.double) { return (.double, "numbers as doubles are written") }
    // A text of digits that is not an integer is a long number, such as that of an account.
    let isDecimal = profile.kinds == .text ? profile.hasFractions : !forms.contains(.number)
    if forms.contains(.decimal), isDecimal {
      return (.decimal, "numbers, all digits of which a decimal keeps")
    }
    guard forms.contains(.number), profile.hasExponents || profile.kinds == .number else { return nil }
    return (.double, "numbers; those written otherwise come back as doubles are written")
  }

  /// The date type for a profile; nil if not all values are dates of the same form.
  private static func date(_ profile: ColumnProfile) -> (AttributeType, String)? {
    let forms = profile.forms
    if forms.contains(.day) { return (.date, "days; they come back as midnight UTC") }
    if forms.contains(.localTime) { return (.date, "dates without a zone, taken as UTC") }
    guard forms.contains(.zonedTime) else { return nil }
    return (.date, profile.hasOffsets ? "dates; their offsets from UTC do not come back" : "dates in UTC")
  }

  // MARK: Values

  /// The distinct values of a text column with few values in many rows.
  ///
  /// At most `DistinctValues.greatestFew` values, each in ten rows on average, and at least twenty
  /// rows.
  private static func enumeration(_ profile: ColumnProfile) -> [String]? {
    guard let few = profile.distinct.few, few.count > 1, profile.kinds == .text, !profile.hasWrongText,
      profile.count >= max(20, few.count * 10)
    else { return nil }
    let values = few.map { String(decoding: $0, as: UTF8.self) }
    guard !values.contains(where: { $0.utf8.contains(0) }) else { return nil }
    return values.sorted()
  }
}

extension String {
  /// The text as part of a single line.
  ///
  /// At most 40 characters are shown; a text with control characters is quoted.
  var shownInComment: String {
    let beginning = prefix(40)
    let isPlain = beginning.unicodeScalars.allSatisfy {
      $0.value >= 32 && $0.value != 127 && !$0.properties.isPatternWhitespace || $0 == " "
    }
    let shown =
      isPlain && beginning.contains(where: { $0 != " " }) ? String(beginning) : String(beginning).debugDescription
    return beginning.endIndex == endIndex ? shown : shown + "..."
  }
}
