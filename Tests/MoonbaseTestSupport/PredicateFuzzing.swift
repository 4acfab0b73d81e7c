import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// Fuzzing of predicate text: a text is refused, or it prints, parses to itself and can be evaluated.
package enum PredicateFuzzing {
  /// Tries some bytes as predicate text. Traps where printing and parsing disagree.
  package static func run(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let arguments: [Value] = [1, "a.b", [1, "x"], .null, 2.5]
    for count in [0, 1, 2, arguments.count] {
      guard let predicate = try? Predicate(format: text, arguments: Array(arguments.prefix(count))) else { continue }
      let printed = predicate.description
      let again = try? Predicate(format: printed)
      precondition(again?.description == printed, "printed as \(printed), which parses to another predicate")
      _ = predicate.keyPaths
      let names = predicate.freeVariables
      let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.int(1)) })
      let subject: [String: Value] = [
        "a": 1, "b": "x", "age": 30, "name": "é", "children": [["age": 5], ["age": .null]],
      ]
      _ = try? predicate.evaluate(with: subject, substituting: values)
    }
  }
}
