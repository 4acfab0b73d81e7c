import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Random models, rows and next versions: the migrated store equals a naive migration of the objects' values.
@Suite struct RandomMigrationTests {
  private static let types: [AttributeType] = [.integer16, .integer32, .integer64, .double, .string, .boolean]

  /// An object as plain values: the attributes by name, and the keys of the destinations by relationship.
  private struct Plain: Equatable {
    var entity: String
    var values: [String: Value]
    var others: [String: Set<String>]
  }

  @Test(arguments: 0..<Repetition.migrationSeeds.count) func aMigrationIsWhatANaiveOneIs(_ seed: Int) throws {
    var random = SplitMix(UInt64(seed))
    let old = Self.model(&random)
    let new = Self.next(old, &random)
    let store = try MigratedStore()
    try store.fill(old) { try Self.fill($0, old, &random) }
    let before = try store.using(old) { try Self.objects($0) }
    let plan = try store.migrate(to: new, allowsLoss: true)
    let after = try store.using(new) { try Self.objects($0) }
    let expected = Self.migrated(before, from: old, to: new)
    #expect(after == expected, "seed \(seed)\n\(plan)")
    #expect(plan.losses.isEmpty == Self.keepsAll(of: before, in: after, of: new), "seed \(seed)\n\(plan)")
    #expect(try store.schema() == MigratedStore.schema(of: new), "seed \(seed)")
    // The migrated store can be written.
    try store.using(new) { context in
      for entity in new.entities where !entity.isAbstract { try context.insert(entity.name) }
      try context.save()
    }
    #expect(try RawDatabase(store.url).rows("PRAGMA integrity_check") == ["ok"])
  }

  // MARK: Models

  private static func model(_ random: inout SplitMix) -> ManagedObjectModel {
    var model = ManagedObjectModel {
      EntityDescription("Animal") {}
      EntityDescription("Dog", parent: "Animal") {}
      EntityDescription("Cat", parent: "Animal") {}
      EntityDescription("House") {}
    }
    for index in model.entities.indices {
      let name = model.entities[index].name.lowercased()
      model.entities[index].attributes = (0..<random.next(4)).map { number in
        AttributeDescription("\(name)\(number)", type: types[random.next(types.count)])
      }
    }
    relate(&model, &random)
    return model
  }

  /// Adds `Animal.homes` and `House.pets`, and a to-one relationship of dogs without an inverse.
  private static func relate(_ model: inout ManagedObjectModel, _ random: inout SplitMix) {
    func side(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
      var side = RelationshipDescription.toMany(name, destination: destination, inverse: inverse)
      side.maxCount = random.next(2)
      side.isOrdered = side.maxCount == 0 && random.next(2) == 0
      return side
    }
    let animal = model.entities.firstIndex { $0.name == "Animal" } ?? 0
    let house = model.entities.firstIndex { $0.name == "House" } ?? 0
    model.entities[animal].relationships = [side("homes", "House", "pets"), .toOne("friend", destination: "Animal")]
    model.entities[house].relationships = [side("pets", "Animal", "homes")]
  }

  /// The next version: attributes are removed, added, renamed and retyped, relationships are stored differently, and
  /// entities are inserted before, above and below others.
  private static func next(_ old: ManagedObjectModel, _ random: inout SplitMix) -> ManagedObjectModel {
    var new = old
    for index in new.entities.indices {
      var kept: [AttributeDescription] = []
      for var attribute in new.entities[index].attributes {
        switch random.next(6) {
        case 0: continue
        case 1:
          attribute.renamingIdentifier = attribute.name
          attribute.name += "Renamed"
        case 2:
          let type = types[random.next(types.count)]
          if AttributeConversion(from: attribute.type, to: type) != nil { attribute.type = type }
        default: break
        }
        kept.append(attribute)
      }
      if random.next(2) == 0 {
        kept.append(
          AttributeDescription("\(new.entities[index].name.lowercased())New", type: .integer32).with {
            $0.defaultValue = 9
          })
      }
      new.entities[index].attributes = kept
    }
    if random.next(2) == 0 { relate(&new, &random) }
    if random.next(3) == 0 {
      new.entities.append(EntityDescription("Aardvark") { AttributeDescription("a", type: .string) })
    }
    if random.next(3) == 0 {
      new.entities.append(EntityDescription("Being") { AttributeDescription("soul", type: .string) })
      new[entity: "Animal"].superentityName = "Being"
    }
    if random.next(3) == 0 {
      new.entities.append(EntityDescription("Poodle", parent: "Dog") { AttributeDescription("curls", type: .double) })
    }
    if random.next(4) == 0 { new.entities.removeAll { $0.name == "Cat" } }
    if random.next(4) == 0 { new[entity: "House"].uniquenessConstraints = [] }
    return new
  }

  // MARK: Objects

  private static func fill(_ context: ManagedObjectContext, _ model: ManagedObjectModel, _ random: inout SplitMix)
    throws
  {
    var animals: [ManagedObject] = []
    for number in 0..<12 {
      let entity = ["Animal", "Dog", "Cat"][number % 3]
      let (animal, house) = (try context.insert(entity), try context.insert("House"))
      for object in [animal, house] {
        for slot in object.entity.attributeSlots where random.next(4) > 0 {
          let property = object.entity.properties[slot]
          try object.setValue(value(property.attributeType ?? .string, &random), forKey: property.name)
        }
      }
      if model[entity: "Animal"].relationships[0].isToMany {
        try animal.setObjects([house], forKey: "homes")
      } else {
        try animal.setObject(house, forKey: "homes")
      }
      if let friend = animals.last { try animal.setObject(friend, forKey: "friend") }
      animals.append(animal)
    }
  }

  private static func value(_ type: AttributeType, _ random: inout SplitMix) -> Value {
    switch type {
    case .integer16: .int(Int64(random.next(3)))
    case .integer32: .int([0, 1, 70_000][random.next(3)])
    case .integer64: .int([0, 1, 9_007_199_254_740_993][random.next(3)])
    case .double: .double([0, 1, 1.5, -2e9][random.next(4)])
    case .boolean: .bool(random.next(2) == 0)
    default: .string(["", "1", "1.5", "x", "70000"][random.next(5)])
    }
  }

  /// All objects by hierarchy and key.
  private static func objects(_ context: ManagedObjectContext) throws -> [String: Plain] {
    var result: [String: Plain] = [:]
    for (root, kind) in [("Animal", "animal"), ("House", "house")] {
      for object in try context.fetch(FetchRequest(root)) {
        var plain = Plain(entity: object.entity.name, values: [:], others: [:])
        for property in object.entity.properties {
          switch property.kind {
          case .attribute: plain.values[property.name] = try object.value(forKey: property.name)
          case .toOne:
            plain.others[property.name] = Set(try [object.object(forKey: property.name)].compactMap(\.self).map(name))
          case .toMany: plain.others[property.name] = Set(try object.objects(forKey: property.name).map(name))
          }
        }
        result["\(kind) \(object.objectID.key)"] = plain
      }
    }
    return result
  }

  /// Whether all objects still exist with all values, under whatever names, and all destinations.
  private static func keepsAll(
    of before: [String: Plain], in after: [String: Plain], of model: ManagedObjectModel
  ) -> Bool {
    let model = try? model.resolved()
    return before.allSatisfy { name, object in
      guard let kept = after[name], let entity = model?.entity(kept.entity) else { return false }
      let found = entity.properties.compactMap(\.attribute).filter { kept.values[$0.name]?.isNull == false }
      let names = Set(found.map { $0.renamingIdentifier ?? $0.name })
      return object.values.allSatisfy { $1.isNull || names.contains($0) } && object.others == kept.others
    }
  }

  private static func name(_ object: ManagedObject) -> String {
    "\(object.entity.name == "House" ? "house" : "animal") \(object.objectID.key)"
  }

  /// The naive migration: object by object, value by value.
  private static func migrated(
    _ objects: [String: Plain], from old: ManagedObjectModel, to new: ManagedObjectModel
  ) -> [String: Plain] {
    let models = (try? old.resolved(), try? new.resolved())
    var result: [String: Plain] = [:]
    for (name, object) in objects {
      guard let before = models.0?.entity(object.entity), let entity = models.1?.entity(object.entity) else { continue }
      var plain = Plain(entity: object.entity, values: [:], others: [:])
      for property in entity.properties {
        guard let attribute = property.attribute else {
          let others = object.others[property.name] ?? []
          plain.others[property.name] = others.filter { other in
            objects[other].map { models.1?.entity($0.entity) != nil } ?? false
          }
          continue
        }
        let origin = before.property(attribute.renamingIdentifier ?? attribute.name)?.attribute
        guard let origin, let value = object.values[origin.name] else {
          plain.values[property.name] = attribute.defaultValue
          continue
        }
        plain.values[property.name] =
          AttributeConversion(from: origin.type, to: attribute.type)?.convert(value) ?? .null
      }
      result[name] = plain
    }
    return result
  }
}
