import Foundation
import Moonbase

/// The cost of typed predicates and converted values. Each row is compared with the same work written by hand.
extension Benchmark {
  static var swift: [Benchmark] { [convertedValues, typedPredicate, generatedClass] }

  private static var convertedValues: Benchmark {
    requests(
      "where-converted", "count, condition in words with Swift's values, beside: with wrapped values",
      byHand: { try $0.count(FetchRequest("Person", where: text, .int(Int64($1)), .string("First\($1)"))) },
      subject: { try $0.count(FetchRequest("Person", where: text, $1, "First\($1)")) })
  }

  private static let text = "age > %@ AND firstName == %@"

  private static var typedPredicate: Benchmark {
    requests(
      "typed-predicate", "count, condition of typed keys, beside: a predicate built by hand",
      byHand: { context, number in
        let age = KeyExpression(.keyPath("age")), firstName = KeyExpression(.keyPath("firstName"))
        let condition = age > Int64(number) && firstName == "First\(number)"
        return try context.count(FetchRequest("Person", where: condition))
      },
      subject: { context, number in
        try context.count(
          Person.self, where: Person.ageKey > Int64(number) && Person.firstNameKey == "First\(number)")
      })
  }

  /// Both classes do the same work, so a difference is a cost of the generated code.
  private static var generatedClass: Benchmark {
    Benchmark(
      name: "generated-class", title: "setting and reading five attributes, generated class, beside: by hand",
      goal: .ratio(1),
      yardstick: { try fillAndSum($0, "HandWrittenMember", HandWrittenMember.self) },
      subject: { try fillAndSum($0, "Member", Member.self) })
  }

  private static func fillAndSum<Object: MemberAttributes>(
    _ workplace: Workplace, _ entity: String, _ type: Object.Type
  ) throws -> Answer {
    let container = try PersistentContainer(
      model: HandWrittenMember.model, store: .inMemory,
      classes: ["Member": Member.self, "HandWrittenMember": HandWrittenMember.self])
    let context = try ManagedObjectContext(container.coordinator)
    var sum: Int64 = 0
    for row in 0..<workplace.count {
      guard let object = try context.insert(entity) as? Object else { throw Failure("an object of another class") }
      object.fill(row)
      sum &+= object.sum
    }
    return .number(sum)
  }

  /// Many small requests to a store of a few objects, so that the cost of the requests dominates.
  private static func requests(
    _ name: String, _ title: String, byHand: @escaping (ManagedObjectContext, Int) throws -> Int,
    subject: @escaping (ManagedObjectContext, Int) throws -> Int
  ) -> Benchmark {
    func run(_ workplace: Workplace, _ count: (ManagedObjectContext, Int) throws -> Int) throws -> Answer {
      let context = try Person.context(workplace.file("few.sqlite"))
      var sum = 0
      for number in 0..<max(workplace.count / 10, 1) { sum += try count(context, number % 20) }
      return .number(Int64(sum))
    }
    return Benchmark(
      name: name, title: title, goal: .ratio(1.02),
      prepare: { workplace in
        guard !FileManager.default.fileExists(atPath: workplace.file("few.sqlite").path) else { return }
        let context = try Person.context(workplace.file("few.sqlite"))
        for row in 0..<20 {
          guard let person = try context.insert("Person") as? Person else { throw Failure("the class is not Person") }
          person.fill(row)
        }
        try context.save()
      },
      yardstick: { try run($0, byHand) }, subject: { try run($0, subject) })
  }
}
