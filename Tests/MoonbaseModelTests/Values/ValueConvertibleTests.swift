import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Values of Swift types in place of `Value`.
@Suite struct ValueConvertibleTests {
  private enum Status: String, ValueConvertible { case open, closed }
  private enum Level: Int, ValueConvertible { case low = 1, high }

  static let conversions: [(any ValueConvertible & Sendable, Value)] = [
    (7, .int(7)), (Int8(-7), .int(-7)), (UInt16(7), .int(7)), (UInt.max, .decimal(Decimal(UInt64.max))),
    (UInt64(7), .int(7)), (0.5, .double(0.5)), (Float(0.5), .double(0.5)), (true, .bool(true)), ("é", .string("é")),
    ("abc".dropFirst(), .string("bc")),
    (Date(timeIntervalSinceReferenceDate: 1), .date(.init(timeIntervalSinceReferenceDate: 1))),
    (Data([1]), .data(Data([1]))), (URL(fileURLWithPath: "/a"), .uri(URL(fileURLWithPath: "/a"))),
    (Decimal(3), .decimal(3)), (Int?.none, .null), (Int?.some(3), .int(3)), (Int??.some(nil), .null),
    ([1, nil, 3], .list([1, .null, 3])), (["a": [1]], .map(["a": .list([1])])), (Set([4]), .list([4])),
    (Status.open, .string("open")), (Level.high, .int(2)), ([Status.closed], .list(["closed"])), (Value.null, .null),
  ]

  @Test(arguments: conversions.indices) func aValueIsConverted(_ index: Int) {
    #expect(Self.conversions[index].0.attributeValue == Self.conversions[index].1)
  }

  @Test func argumentsOfPredicatesAreConverted() throws {
    let (age, name, status) = (30, "Ann", Status.open)
    let born: Date? = nil
    let predicate = try Predicate(format: "age > %@ AND name == %@ AND status IN %@", age, name, [status])
    #expect(try predicate == Predicate(format: "age > %@ AND name == %@ AND status IN %@", 30, "Ann", ["open"]))
    #expect(try Predicate(format: "born == %@", born) == Predicate(format: "born == nil"))
    #expect(try FetchRequest("P", where: "age > %d", age).predicate == Predicate(format: "age > 30"))
    #expect(try Expression(format: "age + %@", age) == Expression(format: "age + 30"))
    #expect(try Predicate(format: "age > $AGE").substituting(["AGE": age]) == Predicate(format: "age > 30"))
    #expect(try predicate.evaluate(with: ["age": age + 1, "name": name, "status": status, "born": nil]))
    // A wrong number of arguments is an error, as for values.
    #expect(throws: ModelError.self) { try Predicate(format: "age > %@ AND b == %@", age) }
    #expect(throws: ModelError.self) { try Predicate(format: "age > %@", age, name) }
  }

  @Test func operatorsTakeThem() throws {
    let (age, name) = (30, "Ann")
    let key = Expression.key("age")
    #expect(try (key >= age && key != age + 1) == Predicate(format: "age >= 30 AND age != 31"))
    #expect(try (key + age == UInt8(31)) == Predicate(format: "age + 30 == 31"))
    #expect(try Expression.key("name").isIn([name]) == Predicate(format: "name IN {'Ann'}"))
    #expect(try key.isBetween(age, age + 5) == Predicate(format: "age BETWEEN {30, 35}"))
    #expect(try (Expression.key("born") == Date?.none) == Predicate(format: "born == nil"))
    #expect(try (Expression.key("status") == Status.open) == Predicate(format: "status == 'open'"))
  }

  @Test func aTextWithPartsIsAValue() {
    let number = 7
    let values: [String: Value] = ["name": "F\(number)", "list": ["\(number)", "b"]]
    #expect(values == ["name": .string("F7"), "list": .list(["7", "b"])])
  }

  // MARK: JSON

  static let plain: [Value] = [
    .null, true, 0, .int(.min), .int(.max), 0.5, 1e300, "", "é\u{0}\"", [], [1, [.null, "x"]], ["a": ["b": 1.5]],
  ]

  @Test(arguments: plain) func aPlainValueIsReadBackFromItsJSON(_ value: Value) throws {
    #expect(try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value)) == value)
  }

  @Test func otherValuesAreTexts() throws {
    let uuid = UUID()
    let value: Value = [
      .date(Date(timeIntervalSinceReferenceDate: 0)), .data(Data([1, 2])), .decimal(Decimal(string: "1.10")!),
      .uuid(uuid),
      .uri(URL(string: "https://a.b/c")!),
    ]
    let decoded = try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    #expect(decoded == ["2001-01-01T00:00:00.000Z", "AQI=", "1.1", .string(uuid.uuidString), "https://a.b/c"])
  }

  @Test func whatJSONCannotSayIsRefused() throws {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(Value.double(.nan)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Value.self, from: Data("[1, }".utf8)) }
  }

  private struct Size: Codable, Equatable {
    var width: Double
    var marks: [String: Int?]
  }

  @Test func aCodableTypeIsATree() throws {
    let size = Size(width: 2.5, marks: ["a": 1])
    let coded = try CodedValue(size)
    #expect(coded.attributeValue == ["width": 2.5, "marks": ["a": 1]])
    #expect(try CodedValue<Size>(coded.attributeValue).content == size)
    #expect(throws: EncodingError.self) { try CodedValue(Size(width: .infinity, marks: [:])) }
    #expect(throws: DecodingError.self) { try CodedValue<Size>(["width": "x"]) }
  }
}
