import Foundation
import Moonbase
import Yardsticks

/// Objects that lead to others, beside joins.
extension Benchmark {
  static var relationships: [Benchmark] { [prefetch] }

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

  private final class Child: ManagedObject {
    static let nameKey = Attribute<Child, String>("name")
    static let ageKey = Attribute<Child, Int64>("age")

    override class var hooks: LifecycleHooks { [] }
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

  private static func familyContext(_ workplace: Workplace) throws -> ManagedObjectContext {
    let container = try PersistentContainer(
      model: familyModel, store: .sqlite(workplace.file("families.sqlite")), classes: ["Child": Child.self])
    return try ManagedObjectContext(container.coordinator)
  }

  /// Half as many children as there are objects in other rows: 100,000 of 1,000 owners, unless the command line says otherwise.
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
