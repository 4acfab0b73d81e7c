import Foundation
import Moonbase

/// The cost of validating all properties of a changed object.
extension Benchmark {
  static var validation: [Benchmark] { [validateRequired, validateRules] }

  /// Properties that are only required.
  private static var validateRequired: Benchmark {
    row("validate-required", "saving changed objects, eight required attributes; beside: none is") { $0.required() }
  }

  /// Properties with rules of the model, one of which changed.
  private static var validateRules: Benchmark {
    row("validate-rules", "saving changed objects, eight attributes with bounds; beside: without") {
      $0.between(0, .int(1 << 40))
    }
  }

  private static func row(
    _ name: String, _ title: String, _ rule: @escaping (AttributeDescription) -> AttributeDescription
  ) -> Benchmark {
    let (plain, ruled) = (ChangedObjects { $0 }, ChangedObjects(rule))
    return Benchmark(
      name: name, title: title, goal: .none,
      prepare: { workplace in
        try plain.change(workplace.count)
        try ruled.change(workplace.count)
      },
      yardstick: { _ in .number(try plain.save()) },
      subject: { _ in .number(try ruled.save()) })
  }
}

/// In-memory objects with eight attributes, one of which changes in each round.
private final class ChangedObjects {
  private let rule: (AttributeDescription) -> AttributeDescription
  private var container: PersistentContainer?
  private var context: ManagedObjectContext?
  private var objects: [ManagedObject] = []
  private var round: Int64 = 0

  init(_ rule: @escaping (AttributeDescription) -> AttributeDescription) { self.rule = rule }

  func change(_ count: Int) throws {
    if objects.count != count { try make(count) }
    round += 1
    for object in objects { try object.setValue(.int(round), forKey: "a0") }
  }

  func save() throws -> Int64 {
    try context?.save()
    return Int64(objects.count)
  }

  private func make(_ count: Int) throws {
    let attributes = (0..<8).map { rule(AttributeDescription("a\($0)", type: .integer64)) }
    var entity = EntityDescription("Thing")
    entity.attributes = attributes
    let container = try PersistentContainer(model: ManagedObjectModel(entities: [entity]), store: .inMemory)
    let context = try ManagedObjectContext(container.coordinator)
    objects = try (0..<count).map { number in
      let object = try context.insert("Thing")
      for index in 0..<8 { try object.setValue(.int(Int64(number + index)), forKey: "a\(index)") }
      return object
    }
    try context.save()
    (self.container, self.context) = (container, context)
  }
}
