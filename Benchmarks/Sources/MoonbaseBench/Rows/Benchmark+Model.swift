import Foundation
import Moonbase
import Yardsticks

/// Models and predicates: parsing compared with Lua's parser, evaluation with a closure, a model with its bare XML.
extension Benchmark {
  static var model: [Benchmark] { [parse, evaluate, load] }

  private static var parse: Benchmark {
    let format = """
      age >= 18 AND age < 65 AND lastName BEGINSWITH[c] 'S' AND (city == 'Berlin' OR city == 'Paris') \
      AND NOT email ENDSWITH '.invalid' AND score BETWEEN {10, 20} AND kind IN {'a', 'b', 'c'} \
      AND department.name != nil AND ANY friends.age > 30
      """
    let expression = """
      return age >= 18 and age < 65 and begins(lastName, 'S') and (city == 'Berlin' or city == 'Paris') \
      and not ends(email, '.invalid') and between(score, {10, 20}) and isin(kind, {'a', 'b', 'c'}) \
      and department.name ~= nil and any(friends, function(friend) return friend.age > 30 end)
      """
    let count = 1000
    return Benchmark(
      name: "predicate-parse", title: "parse a predicate of ten terms, C: Lua's load", goal: .ratio(2),
      yardstick: { _ in .number(yardstick_lua_loads(expression, Int64(count))) },
      subject: { _ in
        var parsed = 0
        for _ in 0..<count {
          guard case .and = try Predicate(format: format) else { throw Failure("the predicate is no AND") }
          parsed += 1
        }
        return .number(Int64(parsed))
      })
  }

  private struct Row: KeyPathAnswering {
    let age: Int64
    let name: String

    var predicateValue: Value { .string(name) }

    func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Row> {
      switch key {
      case "age": .value(.int(age))
      case "name": .value(.string(name))
      default: throw Failure("a row has no \(key)")
      }
    }
  }

  private static let rows: [Row] = (0..<100_000).map { index in
    let name = ["Ren\u{E9}e", "Captain Scarlet", "Em\u{ED}lia Andr\u{E9}", "Bob", "Zo\u{EB}"][index % 5]
    return Row(age: Int64(index * 7919 % 300), name: "\(name) \(index)")
  }

  private static var evaluate: Benchmark {
    Benchmark(
      name: "predicate-evaluate", title: "evaluate CONTAINS[cd] on 100,000 rows, C: Swift", goal: .ratio(3),
      yardstick: { _ in
        let matching = rows.count { row in
          row.age >= 100 && row.age <= 200
            && row.name.range(of: "\u{E9}", options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
        return .number(Int64(matching))
      },
      subject: { _ in
        let predicate = try CompiledPredicate(
          Predicate(format: "age >= 100 AND age <= 200 AND name CONTAINS[cd] '\u{E9}'"))
        return .number(Int64(try rows.count { try predicate.evaluate(with: $0) }))
      })
  }

  private static var load: Benchmark {
    Benchmark(
      name: "model-load", title: "150 entities from XML, resolved, C: libxml2", goal: .ratio(10),
      prepare: { workplace in
        let folder = workplace.file("Large.xcdatamodel")
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try largeModel.xcodeContents().write(
          to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
      },
      yardstick: { workplace in
        .number(yardstick_xml_reads(workplace.file("Large.xcdatamodel/contents").path, "entity"))
      },
      subject: { workplace in
        let model = try ManagedObjectModel(contentsOf: workplace.file("Large.xcdatamodel"))
        let resolved = try model.resolved()
        return .number(Int64(resolved.entities.count))
      })
  }

  private static var largeModel: ManagedObjectModel {
    var model = ManagedObjectModel()
    for index in 0..<150 {
      var entity = EntityDescription("Entity\(index)")
      for (number, type) in [
        AttributeType.string, .integer64, .date, .double, .boolean, .binaryData, .decimal, .uuid, .string, .integer16,
      ].enumerated() {
        entity.attributes.append(AttributeDescription("attribute\(number)", type: type))
      }
      let next = (index + 1) % 150
      let previous = (index + 149) % 150
      entity.relationships.append(.toMany("children", destination: "Entity\(next)", inverse: "parent"))
      entity.relationships.append(.toOne("parent", destination: "Entity\(previous)", inverse: "children"))
      model.entities.append(entity)
    }
    return model
  }
}
