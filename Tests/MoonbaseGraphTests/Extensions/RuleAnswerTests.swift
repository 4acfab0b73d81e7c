import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Arguments and results of validation rules.
@Suite struct RuleAnswerTests {
  @Test(arguments: StoreKind.allCases) func aRuleSeesTheOldValueAndWhyItIsAsked(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var seen: [String] = []
    let context = bench.context { entry in
      entry.validate["lastName"] = { value, person in
        #expect(person.key == "lastName" && person.object.entity.name == "Person")
        seen.append("\(person.event) \(try person.oldValue) \(value)")
        return nil
      }
    }
    let person = try context.insert("Person", values: ["lastName": "A"])
    try context.save()
    try person.setValue("B", forKey: "lastName")
    try person.setValue("C", forKey: "lastName")
    try person.validate("D", forKey: "lastName")
    try context.save()
    try context.refresh(person, mergeChanges: false)
    try person.validate("E", forKey: "lastName")
    #expect(seen == ["insert nil A", "assignment A D", "update A C", "assignment C E"])
  }

  @Test(arguments: StoreKind.allCases) func aTransitionCanBeRefused(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["lastName"] = { name, person in
        try person.oldValue == "closed" && name != "closed" ? .init("cannot become {value} after {old}") : nil
      }
    }
    let person = try context.insert("Person", values: ["lastName": "open"])
    try context.save()
    try person.setValue("closed", forKey: "lastName")
    try context.save()
    try person.setValue("open", forKey: "lastName")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.message == "Person.lastName (open) cannot become open after closed")
    #expect(error?.reason == "cannot become open after closed")
  }

  @Test(arguments: StoreKind.allCases) func aRuleGivesItsErrorANumberAndItsMessageValues(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["age"] = { _, _ in
        .init(
          "{value} is {over} above {limit} of {entity}.{key}, {} {a b} {2}", code: ErrorCode(rawValue: 9001),
          values: ["limit": 10, "over": "far", "2": "two"])
      }
      entry.validateForInsert = { _ in .init("as {what} {key}", key: "email", values: ["what": "a whole"]) }
    }
    try context.insert("Person", values: ["age": 30])
    let error = #expect(throws: GraphError.self) { try context.save() }
    let details = error?.details ?? []
    #expect(details.map(\.code.rawValue) == [9001, 1550])
    #expect(details.map(\.reason) == ["30 is far above 10 of Person.age, {} {a b} two", "as a whole email"])
    #expect(details.map(\.property) == ["age", "email"])
  }

  @Test(arguments: [
    (EntityExtension.ValidationIssue("{limmit}", values: ["limit": 1]), "did you mean limit?"),
    (.init("ends", code: .limitExceeded), "says that a run is over"),
  ])
  func anAnswerThatMakesNoSenseIsTheRulesError(_ failure: EntityExtension.ValidationIssue, _ message: String) throws {
    for isWhole in [false, true] {
      let bench = try StoreBench(.memory)
      let context = bench.context { entry in
        if isWhole { entry.validateForInsert = { _ in failure } } else { entry.validate["age"] = { _, _ in failure } }
      }
      try context.insert("Person")
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(
        error?.code == .extensionFailure && error?.message.contains(message) == true, "\(String(describing: error))")
      #expect(error?.property == (isWhole ? nil : "age"))
    }
  }

  @Test(arguments: StoreKind.allCases) func warningsDoNotFailASaveAndAreTold(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["age"] = { age, _ in age == 140 ? .init("is doubtful", severity: .warning) : nil }
      entry.validateForUpdate = { _ in .init("changed", severity: .warning) }
    }
    var told: [String] = []
    let observation = context.observeSaves(didSave: { save in told += save.warnings.map(\.message) })
    let old = try context.insert("Person", values: ["age": 140])
    #expect(try old.validate().map(\.reason) == ["is doubtful"])
    #expect(try old.validate(140, forKey: "age").map(\.property) == ["age"])
    #expect(context.validationWarnings.isEmpty)
    try context.save()
    #expect(told == ["Person.age (140) is doubtful"])
    #expect(context.validationWarnings.map(\.objectID) == [old.objectID])
    #expect(context.validationWarnings.map(\.code) == [.validation])
    try old.setValue(20, forKey: "age")
    try context.save()
    #expect(context.validationWarnings.map(\.message) == ["Person changed"])
    try context.save()
    #expect(context.validationWarnings.isEmpty)
    withExtendedLifetime(observation) {}
  }

  /// Rules run again for objects changed by `willSave`; the last result counts.
  @Test(arguments: StoreKind.allCases) func eachObjectHasTheWarningsOfItsLastValidation(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["age"] = { age, _ in .init("is {value}", severity: .warning) }
      entry.willSave = { person in
        if try person.value(forKey: "age") == 1 { try person.setValue(2, forKey: "age") }
      }
    }
    for age in [1, 5] as [Int64] { try context.insert("Person", values: ["age": .int(age)]) }
    try context.save()
    #expect(context.validationWarnings.map(\.reason) == ["is 2", "is 5"])
  }

  @Test(arguments: StoreKind.allCases) func aSaveThatFailsTellsWarningsBesideFailures(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["age"] = { _, _ in .init("is doubtful", severity: .warning) }
      entry.validate["lastName"] = { _, _ in .init("is bad") }
    }
    let person = try context.insert("Person", values: ["age": 3, "lastName": "A"])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.reason == "is bad" && error?.details.isEmpty == true)
    #expect(context.validationWarnings.map(\.reason) == ["is doubtful"])
    #expect(throws: GraphError.self) { try person.validate() }
  }

  /// Warnings of an earlier save are not reported for this one.
  @Test(arguments: StoreKind.allCases) func aSaveThatFailsBeforeItsRulesHasNoWarnings(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { $0.validate["age"] = { _, _ in .init("is doubtful", severity: .warning) } }
    let person = try context.insert("Person", values: ["age": 3])
    try context.save()
    #expect(context.validationWarnings.count == 1)
    try person.setValue(4, forKey: "age")
    _ = person["nothing"]
    #expect(throws: GraphError.self) { try context.save() }
    #expect(context.validationWarnings.isEmpty)
    _ = context.drainAccessorErrors()
    try context.save()
    #expect(context.validationWarnings.count == 1)
  }
}
