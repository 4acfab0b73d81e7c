import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Values as keyed archives, in the form of Core Data's default transformer.
@Suite struct ValueArchiveTests {
  /// A value of every kind that an archive holds.
  static let samples: [Value] = [
    .bool(true), .bool(false), 0, -1, .int(.max), .int(.min), .double(-0.5), .double(.infinity), "", "text", "$null",
    "Grüße 😀",
    .date(Date(timeIntervalSinceReferenceDate: 712_345.25)), .data(Data()), .data(Data([0, 1, 255])),
    .uuid(UUID(uuidString: "2CACC7FA-A955-42CE-9CFA-83D1C7DFE921") ?? UUID()),
    .uri(URL(string: "https://example.org/a?b=c#d") ?? URL(fileURLWithPath: "/")),
    .decimal(Decimal(string: "-12345678901234567890.125") ?? 0), [], ["a", 1, .null, ["b"]], [:],
    ["$null": ["$null", .null]],
    ["name": "Ann", "tags": ["x", "y"], "none": .null, "deep": ["deeper": [1, 2.5, true]]],
  ]

  @Test(arguments: samples) func everyKindSurvivesWritingAndReading(_ value: Value) throws {
    let read = try ValueArchive.value(of: ValueArchive.data(of: value))
    #expect(read.isSame(as: value), "\(read)")
  }

  @Test func textsThatSwiftTakesForOneKeepTheirCodePoints() throws {
    let value: Value = ["e\u{301}", "\u{e9}", .double(0), .double(-0.0)]
    guard case .list(let list) = try ValueArchive.value(of: ValueArchive.data(of: value)),
      case .string(let apart) = list[0], case .string(let one) = list[1], case .double(let zero) = list[3]
    else { throw CancellationError() }
    #expect(Array(apart.unicodeScalars) != Array(one.unicodeScalars))
    #expect(zero.sign == .minus)
  }

  @Test func whatIsNoNumberIsWrittenAndRead() throws {
    let value: Value = [.double(.nan), .double(1), .double(.nan), .double(.signalingNaN), .double(1)]
    guard case .list(let list) = try ValueArchive.value(of: ValueArchive.data(of: value)) else {
      throw CancellationError()
    }
    let numbers = list.compactMap { if case .double(let number) = $0 { number } else { nil } }
    #expect(numbers.count == 5 && numbers[0].isNaN && numbers[2].isNaN && numbers[3].isNaN && numbers[4] == 1)
  }

  /// The list of superclasses is searched for each object, and a file may have thousands of objects. A Foundation class
  /// beyond the limit is not recognized.
  @Test(arguments: [(3, true), (40, false)])
  func aClassHasNoMoreAncestorsThanAreLookedAt(_ count: Int, isList: Bool) throws {
    let ancestors: [PropertyList] = (0..<count).map { .string("__NSAncestor\($0)") } + [.string("NSArray")]
    let mine: PropertyList = ["$classname": "__NSMine", "$classes": .array(ancestors)]
    let bytes = Self.archive(root: 2, ["$null", mine, ["NS.objects": [], "$class": .uid(1)]])
    let value = try ValueArchive.value(of: bytes)
    if case .list = value { #expect(isList) } else { #expect(!isList, "\(value)") }
  }

  @Test func theArchiveHasTheFormThatAppleWrites() throws {
    let plist = try PropertyList(binary: ValueArchive.data(of: ["a": [.null, "a"]]))
    #expect(plist["$archiver"] == "NSKeyedArchiver" && plist["$version"] == 100_000)
    #expect(plist["$top"] == ["root": .uid(1)])
    let objects = try #require(plist["$objects"]?.array)
    #expect(objects[0] == "$null" && objects[2] != "$null")
    let root = try #require(objects[1].dictionary)
    #expect(Set(root.keys) == ["$class", "NS.keys", "NS.objects"])
    guard case .uid(let number)? = root["$class"] else { throw CancellationError() }
    #expect(objects[Int(number)] == ["$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]])
    let names = objects.compactMap { $0["$classname"]?.string }.sorted()
    #expect(names == ["NSArray", "NSDictionary", "NSNull"])
  }

  @Test func equalValuesGiveEqualBytes() throws {
    let keys = (0..<50).map { "key \($0)" }
    let forth = Value.map(Dictionary(uniqueKeysWithValues: keys.map { ($0, .string($0)) }))
    let back = Value.map(Dictionary(uniqueKeysWithValues: keys.reversed().map { ($0, .string($0)) }))
    #expect(try ValueArchive.data(of: forth) == ValueArchive.data(of: back))
  }

  // MARK: Foundation's archiver

  @Test func foundationReadsWhatWeWrite() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let id = UUID()
    let value: Value = [
      "text": "Grüße", "number": 3, "real": 2.5, "flag": true, "date": .date(date), "bytes": .data(Data([1, 2])),
      "id": .uuid(id), "list": ["a", 1],
    ]
    let classes: [AnyClass] = [
      NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self, NSURL.self,
    ]
    let bytes = try ValueArchive.data(of: value)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: bytes)
    let dictionary = try #require(read as? [String: Any])
    #expect(dictionary["text"] as? String == "Grüße")
    #expect(dictionary["number"] as? Int == 3 && dictionary["real"] as? Double == 2.5)
    #expect(dictionary["flag"] as? Bool == true && dictionary["date"] as? Date == date)
    #expect(dictionary["bytes"] as? Data == Data([1, 2]) && dictionary["id"] as? UUID == id)
    #expect((dictionary["list"] as? [Any])?.count == 2)
  }

  @Test func foundationReadsASetAsASet() throws {
    let bytes = try ValueArchive.data(of: ["a", "b"], listClass: "NSSet")
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSSet.self, NSString.self], from: bytes)
    #expect((read as? Set<String>) == ["a", "b"])
    #expect(try ValueArchive.value(of: bytes) == ["a", "b"])
  }

  @Test func weReadWhatFoundationWrites() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let source: [String: Any] = [
      "text": "Grüße", "number": 3, "real": 2.5, "date": date, "list": ["a", "b"], "nested": ["k": "v"],
    ]
    let bytes = try NSKeyedArchiver.archivedData(withRootObject: source as NSDictionary, requiringSecureCoding: true)
    let value = try ValueArchive.value(of: bytes)
    #expect(
      value == [
        "text": "Grüße", "number": 3, "real": 2.5, "date": .date(date), "list": ["a", "b"], "nested": ["k": "v"],
      ])
  }

  // MARK: Other classes

  @Test func anObjectOfAnotherClassIsAMapThatNamesItsClass() throws {
    let bytes = Self.archive(
      root: 1,
      [
        "$null", ["text": .uid(2), "size": 4, "none": .uid(0), "inner": .uid(4), "$class": .uid(3)], "default cover",
        ["$classname": "App.Cover", "$classes": ["App.Cover", "NSObject"]], ["x": .real(1.5), "$class": .uid(5)],
        ["$classname": "Point"],
      ])
    #expect(
      try ValueArchive.value(of: bytes)
        == ["$class": "App.Cover", "text": "default cover", "size": 4, "inner": ["$class": "Point", "x": 1.5]])
  }

  @Test func aDictionaryWhoseKeysAreNoTextsIsAMapThatNamesItsClass() throws {
    let bytes = Self.archive(
      root: 1,
      [
        "$null", ["NS.keys": [.uid(2)], "NS.objects": [.uid(3)], "$class": .uid(4)], 7, "seven",
        ["$classname": "NSDictionary"],
      ])
    #expect(
      try ValueArchive.value(of: bytes) == ["$class": "NSDictionary", "NS.keys": [7], "NS.objects": ["seven"]])
  }

  @Test func mutableAndPrivateClassesOfFoundationAreWhatTheyHold() throws {
    let bytes = Self.archive(
      root: 1,
      [
        "$null", ["NS.objects": [.uid(3), .uid(5), .uid(7)], "$class": .uid(2)],
        ["$classname": "__NSArrayM", "$classes": ["__NSArrayM", "NSMutableArray", "NSArray", "NSObject"]],
        ["NS.string": "text", "$class": .uid(4)], ["$classname": "NSMutableString"],
        ["NS.data": .data(Data([1])), "$class": .uid(6)], ["$classname": "NSMutableData"],
        ["NS.object.0": .uid(9), "NS.object.1": .uid(10), "$class": .uid(8)], ["$classname": "NSOrderedSet"], "a", "b",
      ])
    #expect(try ValueArchive.value(of: bytes) == ["text", .data(Data([1])), ["a", "b"]])
  }

  @Test func aURLWithABaseIsWhole() throws {
    let bytes = Self.archive(
      root: 1,
      [
        "$null", ["NS.base": .uid(3), "NS.relative": .uid(5), "$class": .uid(2)], ["$classname": "NSURL"],
        ["NS.base": .uid(0), "NS.relative": .uid(4), "$class": .uid(2)], "https://example.org/a/", "b",
      ])
    #expect(try ValueArchive.value(of: bytes) == .uri(try #require(URL(string: "https://example.org/a/b"))))
  }

  // MARK: Refused

  private static let row = ManagedObjectID(temporaryFor: Symbol("P"))

  private static let unarchivable: [(Value, String)] = [
    (["$class": "Cover"], "stands for an archived object, of class Cover"),
    (.objectID(row), "an object ID is none of these"),
    ([.objectID(row)], "none of these"),
  ]

  @Test(arguments: unarchivable) func whatNoArchiveHoldsIsRefused(_ value: Value, _ reason: String) {
    #expect { try ValueArchive.data(of: value) } throws: {
      ($0 as? ModelError)?.code == .invalidValue && "\($0)".contains(reason)
    }
  }

  private static let damaged: [(Data, String)] = [
    (Data("text".utf8), "are no keyed archive"), (Data(), "are no keyed archive"),
    (Data("\u{04}\u{0b}streamtyped".utf8), "written by NSArchiver"),
    (PropertyList.array([]).binaryData, "no keyed archive"),
    (archive(root: 9, ["$null"]), "leads to no object"),
    (archive(root: 1, ["$null", .uid(1)]), "leads to another one"),
    (archive(root: 1, ["$null", ["$class": .uid(7)]]), "leads to no object"),
    (archive(root: 1, ["$null", ["$class": .uid(0)]]), "has no class"),
    (
      archive(root: 1, ["$null", ["NS.objects": [.uid(1)], "$class": .uid(2)], ["$classname": "NSArray"]]),
      "an object of class NSArray contains itself"
    ),
    (nest(200), "nested more than 100 levels deep"), (nest(200, key: "NS.keys"), "nested more than 100 levels deep"),
    (bomb(), "unfolds into more than 1000000 values"),
  ]

  @Test(arguments: damaged) func damagedArchivesAreRefused(_ bytes: Data, _ reason: String) {
    #expect { try ValueArchive.value(of: bytes) } throws: {
      ($0 as? ModelError)?.code == .malformedFile && "\($0)".contains(reason)
    }
  }

  @Test func aChainOfBasesOfURLsEnds() {
    var objects: [PropertyList] = ["$null", ["$classname": "NSURL"], "x"]
    for number in 3..<5000 {
      objects.append(["NS.base": .uid(UInt32(number + 1)), "NS.relative": .uid(2), "$class": .uid(1)])
    }
    #expect(throws: ModelError.self) { try ValueArchive.value(of: Self.archive(root: 3, objects)) }
  }

  @Test func damagedBytesNeverTrap() throws {
    let bytes = try ValueArchive.data(of: .list(Self.samples))
    for index in bytes.indices {
      for change: UInt8 in [0x00, 0x01, 0x0f, 0x5f, 0x80, 0xaf, 0xdf, 0xff] {
        var damaged = bytes
        damaged[index] = change
        _ = try? ValueArchive.value(of: damaged)
      }
    }
  }

  @Test func everyTruncationIsRefused() throws {
    let bytes = try ValueArchive.data(of: ["key": ["value", 1]])
    for length in 0..<bytes.count {
      #expect(throws: ModelError.self) { try ValueArchive.value(of: bytes.prefix(length)) }
    }
  }

  /// Random archives with random references: each read ends, with a value or an error.
  @Test func randomReferencesEnd() {
    var random = SplitMix(11)
    for _ in 0..<300 {
      let count = UInt32.random(in: 2...12, using: &random)
      var objects: [PropertyList] = ["$null", ["$classname": "NSArray"], ["$classname": "NSDictionary"]]
      for _ in 0..<count {
        let references = (0..<Int.random(in: 0...4, using: &random)).map { _ in
          PropertyList.uid(.random(in: 0...count + 4, using: &random))
        }
        objects.append(
          Bool.random(using: &random)
            ? ["NS.objects": .array(references), "$class": .uid(1)]
            : ["NS.keys": .array(references), "NS.objects": .array(references.reversed()), "$class": .uid(2)])
      }
      _ = try? ValueArchive.value(of: Self.archive(root: 3, objects))
    }
  }

  // MARK: Making archives

  static func archive(root: UInt32, _ objects: [PropertyList]) -> Data {
    let list: PropertyList = [
      "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(root)], "$objects": .array(objects),
    ]
    return list.binaryData
  }

  /// Arrays in arrays, or dictionaries in the keys of others.
  private static func nest(_ depth: UInt32, key: String = "NS.objects") -> Data {
    var objects: [PropertyList] = ["$null", ["$classname": key == "NS.keys" ? "NSDictionary" : "NSArray"]]
    for number in 2..<2 + depth {
      var fields: [String: PropertyList] = [key: [.uid(number + 1)], "$class": .uid(1)]
      if key == "NS.keys" { fields["NS.objects"] = [.uid(0)] }
      objects.append(.dictionary(fields))
    }
    objects.append("end")
    return archive(root: 2, objects)
  }

  /// Arrays, each of which contains the next one ten times.
  private static func bomb() -> Data {
    var objects: [PropertyList] = ["$null", ["$classname": "NSArray"]]
    for number: UInt32 in 2..<20 {
      objects.append(["NS.objects": .array(Array(repeating: .uid(number + 1), count: 10)), "$class": .uid(1)])
    }
    objects.append("end")
    return archive(root: 2, objects)
  }
}
