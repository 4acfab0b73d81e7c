import MoonbaseModel
import MoonbaseModelFormats

/// A key of a report.
///
/// Keys come from the table of aspects, so they are texts and not the cases of an enumeration. A
/// key can be written as a literal.
struct ReportKey: CodingKey, ExpressibleByStringLiteral {
  /// The name of the member in the JSON object.
  let stringValue: String
  /// Always nil, because reports have no arrays with keys.
  var intValue: Int? { nil }

  /// Creates the key with a name.
  init(stringValue: String) { self.stringValue = stringValue }
  /// Creates the key from a literal.
  init(stringLiteral value: String) { stringValue = value }
  /// Returns nil, because a number is no key of a report.
  init?(intValue: Int) { nil }
}

extension KeyedEncodingContainer<ReportKey> {
  /// Writes the settings of a description, including default values, under their keys in JSON.
  ///
  /// - Parameter owner: A description of the model, such as an attribute.
  mutating func encode<Owner: Described>(whatIsSaidBy owner: Owner) throws {
    for aspect in Owner.aspects {
      if let name = aspect.report, let value = aspect.value(of: owner) {
        try encode(AspectReport(value: value), forKey: ReportKey(stringValue: name))
      }
    }
  }
}

/// The value of one setting in JSON.
///
/// It is encoded as the kind of value that it has: a Boolean, a number, a text, a list or an
/// object.
private struct AspectReport: Encodable {
  /// A predicate with its message.
  private struct Rule: Encodable {
    /// The predicate as a text.
    let predicate: String
    /// The message for a value that the predicate rejects.
    let message: String
  }

  /// The value to encode.
  let value: AspectValue

  /// Encodes the value without an object around it.
  func encode(to encoder: any Encoder) throws {
    var report = encoder.singleValueContainer()
    switch value {
    case .flag(let flag): try report.encode(flag)
    case .text(let text): try report.encode(text)
    case .number(let number): try report.encode(number)
    case .type(let type): try report.encode(type.modelName)
    case .deleteRule(let rule): try report.encode(rule.modelName)
    case .resultType(let type): try report.encode(type.modelName)
    case .value(let value): try report.encode(ReportValue(value))
    case .values(let values): try report.encode(values.map(ReportValue.init))
    case .rules(let rules): try report.encode(rules.map { Rule(predicate: "\($0.predicate)", message: $0.message) })
    case .attributes(let list): try report.encode(list.map(ModelReport.Attribute.init))
    case .relationships(let list): try report.encode(list.map(ModelReport.Relationship.init))
    case .fetchedProperties(let list): try report.encode(list.map { ModelReport.Fetch(property: $0) })
    case .userInfo(let entries): try report.encode(entries.mapValues(ReportValue.init))
    case .names(let names), .set(let names): try report.encode(names)
    case .predicate(let predicate): try report.encode("\(predicate)")
    case .sort(let keys): try report.encode(keys.map { "\($0)" })
    case .columns(let columns): try report.encode(columns.map(ModelReport.Column.init))
    case .constraints(let constraints): try report.encode(constraints)
    case .indexes(let indexes): try report.encode(indexes.map(ModelReport.Index.init))
    case .fetch(let request): try report.encode(ModelReport.Fetch(request: request))
    }
  }
}
