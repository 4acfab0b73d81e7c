import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Attributes that only extensions declare: their slots lie outside of rows, and a reload may add, retype and remove
/// them.
@Suite struct AddedAttributeTests {
  @Test(arguments: StoreKind.allCases) func whatAReloadAddsIsThereAtOnceOnObjectsThatAreThere(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let ann = try context.insert("Person", values: ["firstName": "Ann", "age": 30])
    let bob = try context.insert("Employee", values: ["firstName": "Bob", "age": 40, "salary": 1.5])
    try ann.setValue(.list([.objectID(bob.objectID)]), forKey: "friends")
    try context.save()
    let cid = try context.insert("Person", values: ["firstName": "Cid", "age": 50])
    #expect(throws: GraphError.self) { try ann.value(forKey: "label") }
    let columns = ann.entity.properties.count

    context.reload(["Person": .label])
    for (person, label) in [(ann, "Ann 30"), (bob, "Bob 40"), (cid, "Cid 50")] {
      #expect(try person.value(forKey: "label") == .string(label))
      #expect(person["label"] == .string(label))
    }
    try ann.setValue("Eve", forKey: "firstName")
    #expect(ann["label"] == "Eve 30")
    #expect(try ann.value(forKeyPath: "friends.label") == .list(["Bob 40"]))
    #expect(try context.labels("label BEGINSWITH 'B' OR label CONTAINS 'id'") == ["Bob 40", "Cid 50"])
    #expect(try context.labels("ANY friends.label == 'Bob 40'") == ["Eve 30"])
    #expect(try context.labels("TRUEPREDICATE", by: "-label") == ["Eve 30", "Cid 50", "Bob 40"])
    #expect(try context.count(FetchRequest("Person", where: "label == 'Cid 50'")) == 1)
    #expect(try ann.changedValues().keys.sorted() == ["firstName"])
    #expect(try ann.committedValues(forKeys: ["label", "firstName"]) == ["label": .null, "firstName": "Ann"])

    // Neither rows nor the model of the stores have the attribute.
    #expect(ann.entity.properties.count == columns && bench.coordinator.model.entity("Person")?.slot("label") == nil)
    try context.save()
    #expect(try context.labels("TRUEPREDICATE", by: "label") == ["Bob 40", "Cid 50", "Eve 30"])
    #expect(
      try context.explain(FetchRequest("Person", where: "label == 'x'")).contains("the context judges label == \"x\""))
    #expect(try bench.saved("Person", "firstName") == ["Bob", "Cid", "Eve"])
  }

  @Test(arguments: StoreKind.allCases) func whatAReloadTakesAwayIsNamedByWhoeverUsesIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.label]])
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    let entity = try context.entity("Person")
    let prepared = try CompiledPredicate(Predicate(format: "label == 'Ann 0'"), entity: entity, in: context.model)
    let sort = try CompiledSort([SortDescriptor("label")], entity: entity, in: context.model)
    #expect(try prepared.matches(ann, memo: nil) && ann["label"] == "Ann 0")

    context.reload([:])
    let gone = "Person has no property label: an extension declared it, and generation 1 of the extensions does not"
    func check(_ body: () throws -> Void) {
      let error = #expect(throws: GraphError.self, performing: body)
      #expect(error?.message == gone && error?.entity == "Person" && error?.property == "label", "\(error as Any)")
    }
    check { _ = try ann.value(forKey: "label") }
    check { try ann.setValue("x", forKey: "label") }
    check { _ = try ann.primitiveValue(forKey: "label") }
    check { _ = try ann.observe("label") { _ in } }
    check { try ann.validate("x", forKey: "label") }
    check { _ = try prepared.matches(ann, memo: nil) }
    check { _ = try sort.rank(of: ann, memo: nil) }
    #expect {
      try context.fetch(FetchRequest("Person", where: "label == 'x'"))
    } throws: {
      "\($0)".contains(gone)
    }
    // A name that never existed is reported like a misspelt one.
    #expect { try ann.value(forKey: "lastNam") } throws: { "\($0)".contains("did you mean lastName?") }

    // A further reload reverts this, since a name identifies an attribute.
    context.reload(["Person": .label])
    #expect(try prepared.matches(ann, memo: nil) && ann["label"] == "Ann 0")
    #expect(try context.drainAccessorErrors().isEmpty && context.labels("label == 'Ann 0'").count == 1)
  }

  @Test(arguments: StoreKind.allCases) func anAttributeMayGetAnotherType(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.label]])
    for age in [9, 10, 100] { try context.insert("Person", values: ["age": .int(Int64(age)), "firstName": "A"]) }
    try context.save()
    #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Person", where: "label > 9")) }
    context.reload(["Person": .computing("label", .integer64) { try $0.value(forKey: "age") }])
    #expect(try context.labels("label > 9", by: "-label") == [100, 10])
    #expect(context.model.entity("Person")?.property("label")?.attributeType == .integer64)
    context.reload(["Person": .label])
    #expect(try context.labels("label != NULL", by: "label") == ["A 10", "A 100", "A 9"])
  }

  @Test(arguments: StoreKind.allCases) func extensionsThatDoNotFitAreNamedAndOthersTakeTheirPlace(_ kind: StoreKind)
    throws
  {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.label]])
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    context.reload(["Person": .computing("salary", .double) { _ in 1 }])
    #expect { try context.insert("Person") } throws: {
      "\($0)".contains("the name of a property of Employee in the model")
    }
    #expect { try ann.value(forKey: "label") } throws: {
      "\($0)".contains("the name of a property of Employee in the model")
    }
    context.reload(["Person": .label, "Employee": .computing("label", .date) { _ in .null }])
    #expect {
      try ann.value(forKey: "label")
    } throws: {
      "\($0)".contains(
        "Employee.label is a date, and Person.label, which it overrides, is a string: give both one type")
    }
    context.reload(["Person": .label])
    #expect(try ann.value(forKey: "label") == "Ann 0")
    try ann.setValue("Eve", forKey: "firstName")
    try context.save()
    #expect(ann["label"] == "Eve 0")
  }

  @Test(arguments: StoreKind.allCases) func aSubentityComputesOtherwise(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    // The subentity declares the attribute first; its slot belongs to the name, whichever entity declares it.
    let context = bench.context(["Employee": [.computing("label", .string) { .string("E \($0["age"])") }]])
    let bob = try context.insert("Employee", values: ["firstName": "Bob", "age": 1])
    let ann = try context.insert("Person", values: ["firstName": "Ann", "age": 2])
    #expect(bob["label"] == "E 1")
    #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Person", where: "label == 'E 1'")) }
    context.reload(["Person": .label, "Employee": .computing("label", nil) { .string("E \($0["age"])") }])
    #expect(ann["label"] == "Ann 2" && bob["label"] == "E 1")
    #expect(try context.labels("label != NULL", by: "label") == ["Ann 2", "E 1"])
    try context.save()
    #expect(try context.labels("label == 'E 1'") == ["E 1"])
    context.reload(["Person": .label])
    #expect(bob["label"] == "Bob 1")
  }

  @Test func contextsOfOneCoordinatorHaveExtensionsOfTheirOwn() throws {
    let bench = try StoreBench(.memory)
    let texts = bench.context(["Person": [.label]])
    let numbers = bench.context(["Person": [.computing("label", .integer64) { try $0.value(forKey: "age") }]])
    let plain = bench.context()
    numbers.automaticallyMergesChangesFromParent = true
    let ann = try texts.insert("Person", values: ["firstName": "Ann", "age": 3])
    try texts.save()
    let same = try numbers.object(with: ann.objectID)
    #expect(ann["label"] == "Ann 3" && same["label"] == 3)
    #expect(throws: GraphError.self) { try plain.object(with: ann.objectID).value(forKey: "label") }
    try ann.setValue(4, forKey: "age")
    try texts.save()
    try numbers.processPendingChanges()
    #expect(try same.value(forKey: "label") == 4 && numbers.labels("label == 4") == [4])
    texts.reload([:])
    #expect(same["label"] == 4 && ann["label"] == .null)
  }

  @Test(arguments: StoreKind.allCases) func aChildHasTheExtensionsOfItsParent(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    let child = ManagedObjectContext(parent: context)
    let copy = try child.object(with: ann.objectID)
    #expect(copy["firstName"] == "Ann")
    context.reload(["Person": .label])
    try copy.setValue("Eve", forKey: "firstName")
    #expect(copy["label"] == "Eve 0" && ann["label"] == "Ann 0")
    #expect(try child.labels("label == 'Eve 0'") == ["Eve 0"])
    try child.save()
    #expect(ann["label"] == "Eve 0")
    try context.save()
    #expect(try child.labels("label == 'Eve 0'", by: "label") == ["Eve 0"])
  }

  @Test(arguments: StoreKind.allCases) func rulesAndStoredAttributesMayNameWhatIsAdded(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var person = EntityExtension.label
    person.validate["label"] = { value, subject in
      try subject.oldValue.isNull && value == "Bad 0" ? .init("is {value} of {key}") : nil
    }
    person.stored = [DerivedAttribute("email", inputs: ["label"]) { try $0.value(forKey: "label") }]
    let context = bench.context()
    context.reload(["Person": person])
    let ann = try context.insert("Person", values: ["firstName": "Bad"])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.property == "label" && error?.message.contains("is Bad 0 of label") == true, "\(error as Any)")
    try ann.setValue("Good", forKey: "firstName")
    try context.save()
    #expect(try bench.saved("Person", "email") == ["Good 0"])
    try ann.setValue(7, forKey: "age")
    try context.save()
    #expect(try bench.saved("Person", "email") == ["Good 7"])
  }

  @Test func moreSlotsThanAWordHasBits() throws {
    var wide = EntityDescription("Wide")
    wide.attributes = (0..<70).map { AttributeDescription("a\($0)", type: .integer64) }
    let bench = try StoreBench(.memory, ManagedObjectModel(entities: [wide]))
    let context = bench.context()
    let one = try context.insert("Wide", values: ["a69": 1])
    try context.save()
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute(
        "next", type: .integer64, inputs: ["a69"], writePolicy: .delayed,
        get: { .int((try $0.value(forKey: "a69").int ?? 0) + 1) },
        set: { try $1.setValue(.int(($0.int ?? 0) - 1), forKey: "a69") }),
      DerivedAttribute("further", type: .integer64) { .int((try $0.value(forKey: "next").int ?? 0) + 1) },
    ]
    context.reload(["Wide": entry])
    #expect(one["next"] == 2 && one["further"] == 3)
    try one.setValue(9, forKey: "next")
    #expect(one["further"] == 10 && one.hasChanges && one["a69"] == 1)
    try one.setPrimitiveValue(5, forKey: "further")
    #expect(one["further"] == 5)
    try context.save()
    #expect(one["a69"] == 8 && one["next"] == 9)
    try one.didChangeValue(forKey: "further")
    #expect(one["further"] == 10)
    try context.rollback()
    #expect(one["next"] == 9 && one["further"] == 10)
  }
}

extension EntityExtension {
  /// A person's name and age as a text.
  static var label: EntityExtension {
    computing("label", .string) { .string("\(try $0.value(forKey: "firstName").string ?? "") \($0["age"])") }
  }

  /// An extension that computes an attribute that the model lacks.
  static func computing(
    _ name: String, _ type: AttributeType?, _ get: @escaping (ManagedObject) throws -> Value
  ) -> EntityExtension {
    var entry = EntityExtension()
    entry.derived = [DerivedAttribute(name, type: type, get: get)]
    return entry
  }
}

extension ManagedObjectContext {
  /// Replaces all extensions.
  func reload(_ extensions: [String: EntityExtension]) {
    extensionRegistry.extensions = extensions.mapValues { [$0] }
    extensionRegistry.didChange()
  }

  /// The labels of the people that match a predicate.
  func labels(_ format: String, by key: String? = nil) throws -> [Value] {
    var request = try FetchRequest("Person", where: Predicate(format: format))
    if let key {
      let isDown = key.hasPrefix("-")
      request.sortDescriptors = [SortDescriptor(isDown ? String(key.dropFirst()) : key, ascending: !isDown)]
    }
    let labels = try fetch(request).map { try $0.value(forKey: "label") }
    return key == nil ? labels.sorted { "\($0)" < "\($1)" } : labels
  }
}
