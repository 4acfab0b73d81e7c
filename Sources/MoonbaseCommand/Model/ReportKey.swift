import MoonbaseModel
import MoonbaseModelFormats

/// A key of a report.
struct ReportKey: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init(stringLiteral value: String) { stringValue = value }
  init?(intValue: Int) { nil }
}

extension KeyedEncodingContainer<ReportKey> {
  /// Writes the settings of a description, including default values, under their keys in JSON.
  mutating func encode<Owner: Described>(whatIsSaidBy owner: Owner) throws {
    for aspect in Owner.aspects {
      if let name = aspect.report, let value = aspect.value(of: owner) {
        try encode(AspectReport(value: value), forKey: ReportKey(stringValue: name))
      }
    }
  }
}

/// The value of one setting in JSON.
private struct AspectReport: Encodable {
  private struct Rule: Encodable {
    let predicate: String
    let message: String
  }

  let value: AspectValue

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
