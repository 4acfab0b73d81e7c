import Foundation
import Moonbase
import Yardsticks

/// Related objects, compared with joins.
extension Benchmark {
  static var relationships: [Benchmark] { [prefetch, importAhead] }

  /// A hundred children for each owner.
  private static var prefetch: Benchmark {
    Benchmark(
      name: "prefetch", title: "owners with their children prefetched, C: the join", goal: .ratio(2),
      prepare: makeFamilies,
      yardstick: { .number(yardstick_join($0.file("families.sqlite").path)) },
      subject: { workplace in
        let context = try familyContext(workplace)
        var request = FetchRequest("Owner")
        request.relationshipKeyPathsForPrefetching = ["children"]
        var sum: Int64 = 0
        for owner in try context.fetch(request) {
          for case let child as Child in try owner.objects(forKey: "children") {
            sum += child[Child.ageKey] + Int64(child[Child.nameKey].utf8.count)
          }
        }
        return .number(sum)
      })
  }

  /// Every child gets one of a thousand saved owners. The yardstick is no C program, but saves the same chunks
  /// synchronously.
  private static var importAhead: Benchmark {
    Benchmark(
      name: "import-ahead", title: "children of saved owners, ahead by 10,000; beside: at once", goal: .none,
      prepare: { $0.removeStore("import.sqlite") },
      yardstick: { workplace in
        workplace.removeStore("import.sqlite")
        return .number(try importChildren(workplace) { try $0.save() })
      },
      subject: { workplace in
        workplace.removeStore("import.sqlite")
        return .number(try importChildren(workplace) { try $0.saveAhead() })
      })
  }

  private static func importChildren(
    _ workplace: Workplace, _ save: (ManagedObjectContext) throws -> Void
  ) throws -> Int64 {
    let context = try familyContext(workplace, "import.sqlite")
    var owners: [ManagedObject] = []
    for number in 0..<1000 { owners.append(try context.insert("Owner", values: ["name": .string("Owner\(number)")])) }
    try context.save()
    var sum: Int64 = 0
    for number in 0..<workplace.count {
      let child = try context.insert("Child")
      child["name"] = .string("Child\(number)")
      child["age"] = .int(Int64(number % 100))
      try child.setObject(owners[number % owners.count], forKey: "owner")
      sum += Int64(number % 100)
      if number % 10_000 == 9_999 { try save(context) }
    }
    try context.save()
    let count = try context.count(FetchRequest("Child", where: "owner != nil"))
    guard count == workplace.count else { throw Failure("\(count) children have an owner") }
    return sum
  }

  private final class Child: ManagedObject {
    static let nameKey = Attribute<Child, String>("name")
    static let ageKey = Attribute<Child, Int64>("age")

    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
  }

  private static var familyModel: ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription("Owner") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("children", destination: "Child", inverse: "owner")
      }
      EntityDescription("Child", class: "Child") {
        AttributeDescription("name", type: .string)
        AttributeDescription("age", type: .integer64)
        RelationshipDescription.toOne("owner", destination: "Owner", inverse: "children")
      }
    }
  }

  private static func familyContext(
    _ workplace: Workplace, _ name: String = "families.sqlite"
  ) throws -> ManagedObjectContext {
    let container = try PersistentContainer(
      model: familyModel, store: .sqlite(workplace.file(name)), classes: ["Child": Child.self])
    return try ManagedObjectContext(container.coordinator)
  }

  /// Half as many children as the other rows' objects: by default 100,000 of 1,000 owners.
  private static func makeFamilies(_ workplace: Workplace) throws {
    guard !FileManager.default.fileExists(atPath: workplace.file("families.sqlite").path) else { return }
    let context = try familyContext(workplace)
    for number in 0..<max(1, workplace.count / 200) {
      let owner = try context.insert("Owner", values: ["name": .string("Owner\(number)")])
      for index in 0..<100 {
        let child = try context.insert("Child")
        try child.setValue(.string("Child \(number) \(index)"), forKey: "name")
        try child.setValue(.int(Int64(index)), forKey: "age")
        try child.setObject(owner, forKey: "owner")
      }
    }
    try context.save()
  }
}
