import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

@Suite struct CheckingTests {
  /// A composite is compared by its elements, or with another composite as a whole.
  @Test func compositesAreComparedByTheirElements() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("address", type: .composite).with {
          $0.elements = [AttributeDescription("city", type: .string)]
        }
        AttributeDescription("other", type: .composite).with {
          $0.elements = [AttributeDescription("city", type: .string)]
        }
      }
    }.resolved()
    let entity = try #require(model.entity("Person"))
    for format in ["address == 'Rome'", "address IN {'Rome'}", "name == address", "address > 3"] {
      let error = #expect(throws: ModelError.self) { try Predicate(format: format).checked(against: entity, in: model) }
      #expect(
        error?.message.contains("is a composite") == true && error?.message.contains("address.city") == true,
        "\(format)")
    }
    #expect(throws: ModelError.self) {
      try Predicate(format: "address CONTAINS 'Rome'").checked(against: entity, in: model)
    }
    for format in ["address.city == 'Rome'", "address == nil", "address == other", "address != nil"] {
      _ = try Predicate(format: format).checked(against: entity, in: model)
    }
  }

  @Test(arguments: errorCases.lines)
  func anErrorPointsAtTheColumn(_ line: CaseTable.Line) throws {
    let parts = line.outcome.split(separator: " ", maxSplits: 1)
    let error = try #require(throws: ModelError.self) { try Predicate(format: line.input) }
    #expect(error.code == .invalidPredicate)
    #expect(error.message.hasPrefix("column \(parts[0]): "), "\(error.message)")
    #expect(error.message.contains(parts[1]), "\(error.message)")
  }

  @Test(arguments: checkCases.lines)
  func whatAnEntityDoesNotAllowIsRefused(_ line: CaseTable.Line) throws {
    let predicate = try Predicate(format: line.input)
    let error = try #require(throws: ModelError.self) {
      try predicate.checked(against: World.shared.person, in: World.shared.model)
    }
    #expect(error.code == .predicateMismatch)
    #expect(error.message.contains(line.outcome), "\(error.message)")
  }

  @Test func argumentsTakeTheirPlaces() throws {
    let predicate = try Predicate(
      format: "%K == %@ AND %K.x > %d AND b IN %@ AND c == %f AND d == %ld AND e == '%@'", "a.b", "x", "k", 5,
      [1, "two"],
      2, 7)
    #expect(
      predicate.description
        == #"a.b == "x" AND k.x > 5 AND b IN {1, "two"} AND c == 2.0 AND d == 7 AND e == "%@""#)
    #expect(try Predicate(format: "a == %@", .null) == Predicate(format: "a == NULL"))
    #expect(try Predicate(format: "%K == 5", "SELF") == Predicate(format: "SELF == 5"))
    #expect(try Predicate(format: "a == %x", 31) == Predicate(format: "a == 31"))
  }

  @Test(arguments: [
    ("a == %d", Value.string("x"), "%d does not take a string"), ("a == %d", 1.5, "%d does not take a double"),
    ("a == %f", "x", "%f does not take a string"), ("%K == 1", 5, "%K takes a key path"),
    ("%K == 1", "a..b", "is no key path"), ("a == 1", 5, "1 argument was given, but the text has no placeholder"),
  ])
  func argumentsOfTheWrongKindAreRefused(_ format: String, _ argument: Value, _ message: String) throws {
    let error = try #require(throws: ModelError.self) { try Predicate(format: format, argument) }
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func deepNestingIsRefusedAndNotOverflown() throws {
    for text in [
      String(repeating: "(", count: 100_000), String(repeating: "NOT ", count: 100_000) + "a = 1",
      String(repeating: "{", count: 100_000), String(repeating: "abs(", count: 100_000),
      "a" + String(repeating: "[0]", count: 100_000) + " = 1", "a = 1" + String(repeating: " + 1", count: 100_000),
      "a = 1" + String(repeating: " ** 1", count: 100_000), "a = " + String(repeating: "- ", count: 100_001) + "a",
      "a = " + String(repeating: "$x := ", count: 100_000) + "1", "NONE c" + String(repeating: ".@mc", count: 10_000),
      // The maximum number of operators at each of the maximum number of levels.
      String(repeating: "(", count: 199) + "a"
        + String(repeating: String(repeating: " + 1", count: 499) + ")", count: 199)
        + " = 1",
      "a" + String(repeating: ".b", count: 300) + " = 1",
    ] {
      #expect(throws: ModelError.self) { try Predicate(format: text) }
    }
    #expect(throws: ModelError.self) {
      try Predicate(format: "%K = 1", .string(Array(repeating: "a", count: 300).joined(separator: ".")))
    }
    let allowed = String(repeating: "(", count: 150) + "a" + String(repeating: " + 1 + 1)", count: 150) + " + 1 = 302"
    #expect(try Predicate(format: allowed).evaluate(with: ["a": 1]))
    let long = try Predicate(format: Array(repeating: "a = 1", count: 10_000).joined(separator: " AND "))
    #expect(try long.evaluate(with: ["a": 1]))
  }

  @Test func deepTreesOfCodeAreRefusedAndNotOverflown() throws {
    var predicate = Predicate.comparison(.init(.keyPath("age"), .equal, .constant(1)))
    var expression = Expression.keyPath("age")
    for _ in 0..<3000 {
      predicate = .not(predicate)
      expression = .function("abs:", [expression])
    }
    let compared = Predicate.comparison(.init(expression, .equal, .constant(1)))
    let long = Predicate.comparison(
      .init(.keyPath(.evaluatedObject, Array(repeating: "boss", count: 5000)), .equal, .constant(.null)))
    for predicate in [predicate, compared, long] {
      #expect(throws: ModelError.self) { try predicate.evaluate(with: ["age": 1]) }
      #expect(throws: ModelError.self) {
        try predicate.checked(against: World.shared.person, in: World.shared.model)
      }
    }
  }

  @Test func literalsTakeTheTypeOfTheAttribute() throws {
    let predicate = try Predicate(
      format: "born > '2001-01-01' AND salary IN {1, 2.5} AND ANY children.born = '2001-01-01'")
    let checked = try predicate.checked(against: World.shared.person, in: World.shared.model)
    let date = #"CAST(0.0, "NSDate")"#
    let salaries = #"{CAST("1", "NSDecimalNumber"), CAST("2.5", "NSDecimalNumber")}"#
    #expect(checked.description == "born > \(date) AND salary IN \(salaries) AND ANY children.born == \(date)")
  }

  @Test func longTextIsShownAroundTheMistake() throws {
    let text = String(repeating: "(", count: 300) + "a"
    let error = try #require(throws: ModelError.self) { try Predicate(format: text) }
    #expect(error.message.count < 250, "\(error.message)")
    let sum = try Predicate(format: "name = abs(1" + String(repeating: " + 1", count: 90) + ")")
    let mismatch = try #require(throws: ModelError.self) {
      try sum.checked(against: World.shared.person, in: World.shared.model)
    }
    #expect(mismatch.message.count < 250, "\(mismatch.message)")
  }

  @Test func aListThatContainsIsAListThatIsSearched() throws {
    let predicate = try Predicate(format: "{36, 12} CONTAINS age")
    let checked = try predicate.checked(against: World.shared.person, in: World.shared.model)
    #expect(checked.description == "age IN {36, 12}")
  }

  @Test func textBesideBinaryDataStandsForItsBytes() throws {
    let entity = EntityDescription("A") { AttributeDescription("d", type: .binaryData) }
    let model = try ManagedObjectModel(entities: [entity]).resolved()
    let predicate = try Predicate(format: "d = %@ OR d IN %@", "abc", ["abc", .data(Data([255]))])
    let checked = try predicate.checked(against: try #require(model.entity("A")), in: model)
    #expect(
      checked.description
        == #"d == CAST("YWJj", "NSData") OR d IN {CAST("YWJj", "NSData"), CAST("/w==", "NSData")}"#)
  }

  @Test(arguments: [
    ("nam", "did you mean name?"), ("children", "leads to several objects"), ("children.age", "leads to several"),
    ("extra", "has no order"), ("department.nme", "did you mean name?"), ("", "no key path"),
  ])
  func sortKeysAreChecked(_ key: String, _ message: String) throws {
    let error = try #require(throws: ModelError.self) {
      try SortDescriptor(key).check(against: World.shared.person, in: World.shared.model)
    }
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test(arguments: [
    (SortDescriptor.Comparator.compare, ["File10", "Zebra", "file2", "file20", "\u{e9}t\u{e9}"]),
    (.localizedStandardCompare, ["\u{e9}t\u{e9}", "file2", "File10", "file20", "Zebra"]),
    (.localizedCaseInsensitiveCompare, ["\u{e9}t\u{e9}", "File10", "file2", "file20", "Zebra"]),
  ])
  func comparatorsOrderText(_ comparator: SortDescriptor.Comparator, _ order: [String]) {
    #expect(order.reversed().sorted { comparator.order($0, $1) == .ascending } == order)
  }

  @Test(arguments: [
    ("name", SortDescriptor.Comparator.compare, "5 1 4 3 2"), ("-name", .compare, "2 3 4 1 5"),
    ("name", .caseInsensitiveCompare, "1 5 4 3 2"), ("age", .compare, "3 5 2 1 4"), ("-age", .compare, "4 1 2 5 3"),
    ("department.name", .compare, "3 4 5 1 2"), ("boss.age", .compare, "1 3 2 4 5"), ("salary", .compare, "3 5 2 4 1"),
    ("born", .compare, "3 4 2 1 5"), ("children.@count", .compare, "2 3 5 1 4"), ("nick", .compare, "1 3 5 4 2"),
  ])
  func sortsWithMissingValuesFirst(_ key: String, _ comparator: SortDescriptor.Comparator, _ order: String) throws {
    var descriptor = SortDescriptor(text: key)
    descriptor.comparator = comparator
    let sort = try CompiledSort([descriptor], entity: World.shared.person, in: World.shared.model)
    #expect(try sort.sorted(World.shared.people).map { String($0.key) }.joined(separator: " ") == order)
  }

  @Test func eachElementOfAListThatBecomesADecimalIsCounted() throws {
    let world = World.shared
    let list = Value.list((0..<1000).map { .double(Double($0) + 0.5) })
    let predicate = try Predicate(format: "salary IN %@", list)
    let units = try HostWorkMeter.units { _ = try predicate.checked(against: world.person, in: world.model) }
    #expect((8000..<20_000).contains(units))
  }
}
