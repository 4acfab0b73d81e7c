import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

@Suite struct CheckedValueTests {
  private static let taken: [(AttributeType, Value, Value)] = [
    (.integer16, 32767, 32767), (.integer16, .double(-5), .int(-5)),
    (.integer32, 70_000, 70_000), (.integer64, .int(.max), .int(.max)), (.double, 5, 5.0),
    (.float, 0.1, .double(Double(Float(0.1)))), (.float, 0.0, 0.0), (.float, 1e-45, .double(Double(Float(1e-45)))),
    (.decimal, "1.50", .decimal(Decimal(string: "1.5")!)), (.decimal, 7, .decimal(7)), (.string, "x", "x"),
    (.boolean, true, true), (.date, "2001-01-01", .date(Date(timeIntervalSinceReferenceDate: 0))),
    (.uuid, "11111111-2222-3333-4444-555555555555", .uuid(UUID(uuidString: "11111111-2222-3333-4444-555555555555")!)),
    (.uri, "https://example.org/a", .uri(URL(string: "https://example.org/a")!)),
    (.transformable, ["a": 1], ["a": 1]), (.undefined, [1], [1]), (.integer16, .null, .null),
    (.binaryData, .data(Data([1])), .data(Data([1]))),
  ]

  @Test(arguments: taken)
  func aValueThatFitsIsTakenInTheTypeOfItsAttribute(_ type: AttributeType, _ value: Value, _ expected: Value) throws {
    #expect(try AttributeDescription("a", type: type).checked(value) == expected)
  }

  @Test(arguments: [
    (AttributeType.integer16, Value.int(70_000), "70000 does not fit an Integer 16: -32768 to 32767"),
    (.integer16, -32_769, "does not fit"), (.integer32, 2_147_483_648, "does not fit an Integer 32"),
    (.integer64, 1.5, "only integral numbers fit"), (.integer64, .double(1e300), "only integral"),
    (.integer16, "5", "not string '5'; make a number of the text"),
    (.integer16, true, "not boolean"), (.boolean, 1, "give true or false"),
    (.string, 5, "takes a string, not integer 5"),
    (.date, "yesterday", "ISO 8601"), (.date, 5, "takes a date"), (.uuid, "x", "the text is no UUID"),
    (.decimal, "1x", "no number"), (.decimal, ".", "the text is no number"),
    (.decimal, "340282366920938463463374607431768211456", "the text does not fit exactly: a decimal keeps 38 digits"),
    (.uuid, "11111111-2222-3333-4444-555555555555\u{0}x", "the text is no UUID"),
    (.decimal, 1.5, "give a decimal or text"), (.float, 1e300, "too large for a float"),
    (.double, .int(9_007_199_254_740_993), "9007199254740993 is no double, the nearest is 9007199254740992: give that"),
    (.float, 1e-46, "too small for a float"), (.float, -1e-300, "too small for a float"),
    (.uri, "http://a b", "the text is no URI"),
    (.binaryData, "x", "takes binary data"), (.objectID, 5, "takes an object ID"), (.composite, 5, "takes a composite"),
  ])
  func aValueThatDoesNotFitIsRefusedWithTheReason(_ type: AttributeType, _ value: Value, _ message: String) throws {
    let error = try #require(throws: ModelError.self) { try AttributeDescription("a", type: type).checked(value) }
    #expect(error.code == .invalidValue)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func valuesOfCompositesAreCheckedByElement() throws {
    var composite = AttributeDescription("place", type: .composite)
    composite.elements = [
      AttributeDescription("number", type: .integer16), AttributeDescription("street", type: .string),
    ]
    #expect(try composite.checked(["number": 5.0]) == ["number": 5])
    // Values that no store could distinguish become equal.
    for none in [[:], .list([]), ["number": .null]] as [Value] { #expect(try composite.checked(none) == .null) }
    let range = try #require(throws: ModelError.self) { try composite.checked(["number": 70_000]) }
    #expect(range.message.hasPrefix("number: 70000"))
    let name = try #require(throws: ModelError.self) { try composite.checked(["stret": "x"]) }
    #expect(name.message.contains("did you mean street?"))
  }

  @Test func aBrokenRuleHasTheCodeOfCoreData() throws {
    var number = AttributeDescription("n", type: .integer16)
    number.isOptional = false
    number.validation.minimum = 0
    number.validation.maximum = 150
    #expect(try number.validate(.null).map(\.code.rawValue) == [1570])
    #expect(try number.validate(151).map(\.code.rawValue) == [1610])
    #expect(try number.validate(-1).map(\.code.rawValue) == [1620])
    #expect(try number.validate(150).isEmpty)
    var text = AttributeDescription("t", type: .string)
    text.validation.minimumLength = 2
    text.validation.maximumLength = 3
    text.validation.regularExpression = "[a-zé]+"
    #expect(try text.validate(.null).isEmpty)
    #expect(try text.validate("ééé").isEmpty)
    #expect(try text.validate("éééé").map(\.code.rawValue) == [1660])
    #expect(try text.validate("a").map(\.code.rawValue) == [1670])
    #expect(try text.validate("AB").map(\.code.rawValue) == [1680])
    #expect(try text.validate("").map(\.code.rawValue) == [1670, 1680])
    var date = AttributeDescription("d", type: .date)
    date.validation.minimum = .date(Date(timeIntervalSinceReferenceDate: 0))
    date.validation.maximum = .date(Date(timeIntervalSinceReferenceDate: 10))
    #expect(try date.validate(.date(Date(timeIntervalSinceReferenceDate: 11))).map(\.code.rawValue) == [1630])
    #expect(try date.validate(.date(Date(timeIntervalSinceReferenceDate: -1))).map(\.code.rawValue) == [1640])
  }

  @Test func valuesBesideThoseListedAndThoseThatPredicatesRefuseAreFailures() throws {
    var kind = AttributeDescription("kind", type: .string)
    kind.validation.allowedValues = ["friend", "colleague"]
    kind.validation.predicates = [
      ValidationPredicate(try Predicate(format: "SELF.length < 8 OR SELF BEGINSWITH 'c'"), message: "is too long")
    ]
    #expect(try kind.validate("friend").isEmpty)
    #expect(try kind.validate("colleague").isEmpty)
    #expect(try kind.validate("enemy").map(\.message) == ["must be one of friend, colleague"])
    #expect(try kind.validate("acquaintance").map(\.code.rawValue) == [1550, 1550])
  }

  @Test func messagesShowTheBeginningOfWhatIsLong() throws {
    var kind = AttributeDescription("kind", type: .string)
    kind.validation.allowedValues = (1...30).map { .string(String(repeating: "x", count: 100) + "\($0)") }
    kind.validation.regularExpression = String(repeating: "[a-z]?", count: 50)
    let messages = try kind.validate("7").map(\.message)
    let value = String(repeating: "x", count: 60) + "…"
    let pattern = String(repeating: "[a-z]?", count: 34).prefix(200) + "…"
    #expect(
      messages == [
        "must match \(pattern)",
        "must be one of \(Array(repeating: value, count: 20).joined(separator: ", ")) and 10 more",
      ])
    #expect(Value.string("é\(String(repeating: "x", count: 60))").beginning?.unicodeScalars.count == 61)
    #expect(Value.data(Data(count: 1000)).beginning == String(repeating: "A", count: 60) + "…")
  }

  @Test func rulesAreCharged() throws {
    var kind = AttributeDescription("kind", type: .string)
    let rule = ValidationPredicate(try Predicate(format: "SELF CONTAINS[cd] 'é'"), message: "must contain é")
    kind.validation.predicates = Array(repeating: rule, count: 100)
    kind.validation.allowedValues = (0..<1600).map { .string("\($0)") }
    let long = Value.string(String(repeating: "ö", count: 8000))
    #expect(try HostWorkMeter.units { _ = try kind.validate(long) } >= 100 * 2000 + 100)
    #expect(try HostWorkMeter.units { _ = try kind.validate("1") } >= 200)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func datesWithoutEndAreRefused(_ seconds: Double) {
    #expect(throws: ModelError.self) {
      try AttributeDescription("born", type: .date).checked(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }
  }
}
