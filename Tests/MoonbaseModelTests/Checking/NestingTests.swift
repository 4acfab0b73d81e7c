import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Deep trees made by code; text and scripts have their own limits.
@Suite struct NestingTests {
  private static let levels = 100_000
  private let none: [String: Value] = [:]

  /// Passes a deep tree to a test, and then takes it apart level by level, since Swift releases it recursively.
  private func withList(_ levels: Int = levels, _ body: (Value) -> Void) {
    var value = Value.int(1)
    for level in 0..<levels { value = level.isMultiple(of: 2) ? .list([value]) : .map(["x": value]) }
    defer {
      while true {
        if case .list(let list) = value {
          value = list[0]
        } else if case .map(let map) = value {
          value = map["x"]!
        } else {
          break
        }
      }
    }
    body(value)
  }

  private func withNot(_ levels: Int = levels, _ body: (Predicate) -> Void) {
    var predicate = Predicate.constant(true)
    for _ in 0..<levels { predicate = .not(predicate) }
    defer { while case .not(let inner) = predicate { predicate = inner } }
    body(predicate)
  }

  private func withSum(_ levels: Int = levels, _ body: (Expression) -> Void) {
    var sum = Expression.keyPath("a")
    for _ in 0..<levels { sum = .function("add:to:", [sum, .constant(1)]) }
    defer { while case .function(_, let arguments) = sum { sum = arguments[0] } }
    body(sum)
  }

  // MARK: Values

  @Test func nestedValuesCompareHashAndPrintAtAnyDepth() {
    withList { one in
      withList { two in
        #expect(one == two)
        #expect(one.isSame(as: two))
        #expect(Value.compare(one, two) == .same && Value.order(one, two) == .same)
        #expect(one.hashValue == two.hashValue)
        #expect(one.description.contains("…"))
      }
      withList(Self.levels - 2) { #expect(one != $0 && Value.compare(one, $0) == nil) }
    }
  }

  @Test func nestedValuesAreRefusedWhereTheyAreAssigned() {
    for type in [AttributeType.transformable, .undefined] {
      let attribute = AttributeDescription("a", type: type)
      withList(100) { value in #expect(throws: Never.self) { try attribute.checked(value) } }
      withList(101) { value in
        let error = #expect(throws: ModelError.self) { try attribute.checked(value) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("more than 100 levels deep") == true)
      }
    }
    var composite = AttributeDescription("c", type: .composite)
    composite.elements = [AttributeDescription("x", type: .transformable)]
    withList { value in #expect(throws: ModelError.self) { try composite.checked(["x": value]) } }
  }

  /// Each level contains the one below twice: little memory, and more elements than can be counted.
  @Test func aValueThatHoldsAnotherTwiceAtEachLevelIsRefused() {
    var value = Value.int(1)
    for _ in 0..<60 { value = .list([value, value]) }
    #expect(throws: ModelError.self) { try AttributeDescription("a", type: .transformable).checked(value) }
    let predicate = Predicate.comparison(.init(.keyPath("a"), .in, .constant(value)))
    #expect(throws: ModelError.self) { try predicate.evaluate(with: none) }
  }

  @Test func nestedValuesAreRefusedInPredicates() {
    withList { value in
      let predicate = Predicate.comparison(.init(.keyPath("a"), .in, .constant(value)))
      let error = #expect(throws: ModelError.self) { try predicate.evaluate(with: ["a": 1]) }
      #expect(error?.code == .invalidPredicate)
      #expect(throws: ModelError.self) { try Expression.constant(value).value(with: Value.null) }
      #expect(predicate.description == "a IN <map>")
      #expect(Expression.value(value) == .constant(value))
    }
    // A subject may have values that no attribute accepts.
    var lists = Value.int(1)
    for _ in 0..<Self.levels { lists = .list([lists]) }
    defer { while case .list(let list) = lists { lists = list[0] } }
    #expect(throws: ModelError.self) { try Predicate(format: "a.b.c = 1").evaluate(with: ["a": lists]) }
  }

  // MARK: Predicates

  @Test func nestedPredicatesCompareHashAndPrintAtAnyDepth() {
    withNot { one in
      withNot { two in
        #expect(one == two)
        #expect(one.hashValue == two.hashValue)
        #expect(one.description.hasPrefix("NOT NOT NOT") && one.description.hasSuffix("…"))
      }
      withNot(Self.levels - 1) { #expect(one != $0) }
    }
    withSum { one in
      withSum { two in
        #expect(one == two)
        #expect(Set([one, two]).count == 1)
        #expect(one.description.hasPrefix("… + ") && one.description.hasSuffix(" + 1 + 1"))
      }
    }
  }

  @Test func nestedPredicatesAreRefusedWhereTheyAreUsed() {
    withNot { predicate in
      #expect(throws: ModelError.self) { try predicate.evaluate(with: none) }
      #expect(throws: ModelError.self) { try CompiledPredicate(predicate) }
      let world = World.shared
      #expect(throws: ModelError.self) { try predicate.checked(against: world.person, in: world.model) }
      let error = #expect(throws: ModelError.self) { try predicate.substituting([:]) }
      #expect(error?.code == .invalidPredicate)
      #expect(predicate.freeVariables.isEmpty && predicate.keyPaths.isEmpty)
    }
    withSum { sum in
      let predicate = Predicate.comparison(.init(sum, .equal, .constant(1)))
      #expect(throws: ModelError.self) { try predicate.evaluate(with: ["a": 1]) }
      #expect(throws: ModelError.self) { try sum.value(with: Value.map(["a": 1])) }
      #expect(predicate.keyPaths.isEmpty)
    }
    withNot(500) { predicate in
      #expect(throws: Never.self) { try predicate.evaluate(with: none) }
    }
  }

  // MARK: Models

  private func refusal(_ change: (inout ManagedObjectModel) -> Void) -> [ModelError?] {
    var model = ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("any", type: .transformable)
      }
    }
    change(&model)
    let made = model
    return [
      #expect(throws: ModelError.self) { _ = try made.resolved() },
      #expect(throws: ModelError.self) { _ = try made.luaSource() },
      #expect(throws: ModelError.self) { _ = try made.xcodeContents() },
    ]
  }

  @Test func nestingInAModelIsRefusedWithThePlace() {
    withNot { predicate in
      for error in refusal({
        $0.fetchRequestTemplates["deep"] = FetchRequest("Person", where: predicate)
        $0.allowsUnknownClasses = true
      }) {
        #expect(error?.code == .invalidModel)
        #expect(
          error?.message == "fetch request deep: a predicate or a value in it is nested too deeply: make it flatter")
      }
      for error in refusal({
        $0.entities[0].attributes[0].validation.predicates = [ValidationPredicate(predicate, message: "no")]
      }) {
        #expect(error?.message.hasPrefix("Person.name: a predicate") == true)
      }
    }
    withList { value in
      for error in refusal({ $0.entities[0].userInfo["deep"] = value }) {
        #expect(error?.message.hasPrefix("entity Person: its user info is nested") == true)
      }
      for error in refusal({ $0.entities[0].attributes[1].defaultValue = value }) {
        #expect(error?.message.hasPrefix("Person.any: one of its values") == true)
      }
    }
    var composite = AttributeDescription("c", type: .composite)
    for _ in 0..<1000 {
      var outer = AttributeDescription("c", type: .composite)
      outer.elements = [composite]
      composite = outer
    }
    for error in refusal({ $0.entities[0].attributes.append(composite) }) {
      #expect(error?.message.hasPrefix("Person.c: its composites are nested") == true)
    }
  }

  @Test func nestedTablesOfAModelFileAreRefused() {
    var tree = ModelTree.table()
    for _ in 0..<Self.levels { tree = .table([tree]) }
    defer { while case .table(let list, _) = tree.content, let inner = list.first { tree = inner } }
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel(tree: tree, file: "m.lua") }
    #expect(error?.description.hasPrefix("m.lua: tables are nested more than 100 levels deep") == true)
  }
}
