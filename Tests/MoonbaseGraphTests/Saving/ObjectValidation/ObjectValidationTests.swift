import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Validation as in Apple's guide, by methods of a subclass and by closures of an extension.
///
/// Source: Core Data Programming Guide, Object Validation.
@Suite struct ObjectValidationTests {
  /// The failures of a save: each error code with its property.
  private func failures(_ context: ManagedObjectContext) -> [ErrorCode: String?] {
    let error = #expect(throws: GraphError.self) { try context.save() }
    guard let error else { return [:] }
    let details = error.details.isEmpty ? [error] : error.details
    return Dictionary(details.map { ($0.code, $0.property) }) { first, _ in first }
  }

  // MARK: When

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func anInvalidValueMayBeAssignedAndStaysUntilTheSave(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a"])
    // In memory, objects may be temporarily inconsistent: setters evaluate no rules.
    try meeting.setValue(1000, forKey: "seats")
    try meeting.setValue(.null, forKey: "title")
    try meeting.setPrimitiveValue("far too long", forKey: "code")
    #expect(meeting["seats"] == 1000 && meeting["title"] == .null && meeting["code"] == "far too long")
    #expect((meeting as? Meeting)?.checked ?? [] == [])
    #expect(throws: GraphError.self) { try context.save() }
    #expect(meeting["seats"] == 1000 && meeting.isInserted && context.hasChanges)
    #expect(try bench.stores.saved("Meeting", "title") == [])
    for (key, value) in [("seats", 10), ("title", "b"), ("code", .null)] as [(String, Value)] { meeting[key] = value }
    try context.save()
    #expect(try bench.stores.saved("Meeting", "seats") == [10])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func aProposedValueIsCheckedOnRequestAndNotAssigned(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a", "seats": 5])
    for (value, code) in [(0, .numberTooSmall), (101, .numberTooLarge), (13, .validation)] as [(Value, ErrorCode)] {
      let error = #expect(throws: GraphError.self) { try meeting.validate(value, forKey: "seats") }
      #expect(error?.code == code)
    }
    try meeting.validate(14, forKey: "seats")
    #expect(meeting["seats"] == 5)
    // Validates the whole object as the next save would.
    meeting["seats"] = 13
    let error = #expect(throws: GraphError.self) { try meeting.validate() }
    #expect(error?.code == .validation && error?.message.contains("unlucky") == true)
  }

  /// An update also validates unchanged properties, since another program may have written invalid values.
  @Test(arguments: StoreKind.allCases) func anUpdateChecksWhatDidNotChange(_ kind: StoreKind) throws {
    let bench = try ValidationBench(kind, .closures)
    let free = bench.stores.context()
    let id = try free.insert("Meeting", values: ["title": "a", "seats": 13]).objectID
    #expect(id.isTemporaryID)
    // The other context has no rules, so it saves the object; unchanged objects are not validated.
    try free.save()
    let context = bench.context()
    let meeting = try #require(try context.fetch(FetchRequest("Meeting")).first)
    try context.insert("Meeting", values: ["title": "other"])
    try context.save()
    meeting["title"] = "b"
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .validation && error?.property == "seats" && error?.objectID == meeting.objectID)
    #expect(error?.message.contains("Meeting.seats (13) 13 is unlucky") == true)
    meeting["seats"] = 14
    try context.save()
  }

  @Test(arguments: StoreKind.allCases)
  func eachOccasionHasItsMethodAndIsCheckedBeforeAnythingIsWritten(_ kind: StoreKind) throws {
    let bench = try ValidationBench(kind, .subclass)
    let context = bench.context()
    func occasions(of meeting: Meeting) -> [String] {
      defer { meeting.checked = [] }
      return meeting.checked.filter { ["insert", "update", "delete"].contains($0) }
    }
    let meeting = try #require(try context.insert("Meeting", values: ["title": "a"]) as? Meeting)
    try context.save()
    #expect(occasions(of: meeting) == ["insert"])
    meeting["title"] = "b"
    try context.save()
    #expect(occasions(of: meeting) == ["update"])
    try context.save()
    #expect(occasions(of: meeting) == [])
    try context.delete(meeting)
    try context.save()
    #expect(occasions(of: meeting) == ["delete"])
  }

  // MARK: Properties

  @Test(arguments: StoreKind.allCases)
  func theModelConstrainsNumbersTextsPatternsDatesAndWhatMustBeThere(_ kind: StoreKind) throws {
    let bench = try ValidationBench(kind, .closures)
    let wrong: [(String, Value, ErrorCode)] = [
      ("seats", 0, .numberTooSmall), ("seats", 101, .numberTooLarge), ("code", "A", .stringTooShort),
      ("code", "ABCDE", .stringTooLong), ("code", "abc", .stringPatternMatching),
      ("day", .date(Date(timeIntervalSinceReferenceDate: -1)), .dateTooSoon),
      ("day", .date(Date(timeIntervalSinceReferenceDate: 2e9)), .dateTooLate),
      ("title", .null, .missingMandatoryProperty),
    ]
    for (key, value, code) in wrong {
      let context = bench.context()
      let meeting = try context.insert("Meeting", values: ["title": "a"])
      meeting[key] = value
      #expect(failures(context) == [code: key])
    }
    let context = bench.context()
    try context.insert("Guest")
    #expect(failures(context) == [.missingMandatoryProperty: "meeting"])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func aMethodForOnePropertyAddsToWhatTheModelSays(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a", "seats": 13])
    #expect(failures(context) == [.validation: "seats"])
    meeting["seats"] = 0
    #expect(failures(context) == [.numberTooSmall: "seats"])
    meeting["seats"] = 12
    try context.save()
  }

  /// Rules never receive a missing value: the model decides whether the value may be missing.
  @Test(arguments: StoreKind.allCases) func aMissingValueIsGivenToNoRule(_ kind: StoreKind) throws {
    let stores = try StoreBench(kind, ValidationBench.model())
    var asked: [Value] = []
    let context = stores.context(extending: "Meeting") { entry in
      for key in ["title", "seats"] {
        entry.validate[key] = { value, _ in
          asked.append(value)
          return nil
        }
        entry.normalize[key] = { value, _ in
          asked.append(value)
          return value
        }
      }
    }
    let meeting = try context.insert("Meeting")
    #expect(failures(context) == [.missingMandatoryProperty: "title"] && asked.isEmpty)
    meeting["title"] = "a"
    try context.save()
    #expect(asked == ["a", "a"])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func aCheckMayPutAnotherValueInItsPlace(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a b c"])
    // Explicit validation stores nothing.
    try meeting.validate("d e", forKey: "title")
    #expect(meeting["title"] == "a b c")
    try context.save()
    #expect(meeting["title"] == "abc" && !context.hasChanges)
    #expect(try bench.stores.saved("Meeting", "title") == ["abc"])
    meeting["title"] = "x y"
    try context.save()
    #expect(try bench.stores.saved("Meeting", "title") == ["xy"])
  }

  // MARK: Several properties

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func valuesThatAreValidAloneMayNotFitTogether(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a", "start": 5, "end": 3])
    for key in ["start", "end"] { try meeting.validate(meeting.value(forKey: key), forKey: key) }
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .validation && error?.property == nil && error?.entity == "Meeting")
    #expect(error?.message.contains("ends before it starts") == true)
    meeting["end"] = 7
    try context.save()
    // An update is validated too.
    meeting["start"] = 8
    #expect(failures(context) == [.validation: nil])
    meeting["end"] = 9
    try context.save()
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func anObjectMayRefuseToBeDeleted(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let (kept, gone) = (
      try context.insert("Meeting", values: ["title": "forever"]), try context.insert("Meeting", values: ["title": "b"])
    )
    try context.save()
    for meeting in [kept, gone] { try context.delete(meeting) }
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.message.contains("cannot be deleted") == true)
    #expect(kept.isDeleted && gone.isDeleted)
    #expect(try bench.stores.saved("Meeting", "title") == ["b", "forever"])
    try context.rollback()
    try context.delete(gone)
    try context.save()
    #expect(try bench.stores.saved("Meeting", "title") == ["forever"])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func whatIsDeletedIsCheckedForNothingElse(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a"])
    try context.save()
    for (key, value) in [("seats", 13), ("title", .null), ("start", 5), ("end", 3)] as [(String, Value)] {
      meeting[key] = value
    }
    try context.delete(meeting)
    try context.save()
    #expect(try bench.stores.saved("Meeting", "title") == [])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func theRuleDenyKeepsAnObjectWhileItHasDestinations(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let meeting = try context.insert("Meeting", values: ["title": "a"])
    let guest = try context.insert("Guest", values: ["meeting": .objectID(meeting.objectID)])
    try context.save()
    try context.delete(meeting)
    #expect(failures(context) == [.relationshipDeniedDelete: "guests"])
    #expect(try guest.object(forKey: "meeting") == meeting)
    try context.delete(guest)
    try context.save()
  }

  // MARK: Errors

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func allFailuresAreToldInOneErrorWithDetails(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let first = try context.insert("Meeting", values: ["seats": 13, "start": 5, "end": 3])
    let second = try context.insert("Meeting", values: ["title": "b", "code": "?"])
    for _ in 0..<2 {
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .multipleErrors && error?.code.rawValue == 1560)
      let details = Dictionary(grouping: error?.details ?? []) { $0.objectID }
      let codes = details.mapValues { $0.map(\.code.rawValue).sorted() }
      // Properties are validated first, and then the object as a whole, even after failures.
      #expect(codes == [first.objectID: [1550, 1550, 1570], second.objectID: [1670, 1680]])
      #expect(error?.details.filter { $0.property == "seats" }.map(\.entity) == ["Meeting"])
    }
    // A single failure is thrown directly.
    try context.delete(second)
    (first["title"], first["seats"]) = ("a", 5)
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .validation && error?.details.isEmpty == true)
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func oneInvalidObjectKeepsAllFromBeingSaved(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let good = try context.insert("Meeting", values: ["title": "good"])
    let bad = try context.insert("Meeting", values: ["title": "bad", "seats": 13])
    #expect(throws: GraphError.self) { try context.save() }
    #expect(try bench.stores.saved("Meeting", "title") == [])
    #expect(good.isInserted && bad.isInserted && good.objectID.isTemporaryID)
    try context.delete(bad)
    try context.save()
    #expect(try bench.stores.saved("Meeting", "title") == ["good"])
  }

  @Test(arguments: StoreKind.allCases, ValidationBench.Way.allCases)
  func aSubentityIsCheckedByTheRulesOfItsParentToo(_ kind: StoreKind, _ way: ValidationBench.Way) throws {
    let bench = try ValidationBench(kind, way)
    let context = bench.context()
    let workshop = try context.insert("Workshop", values: ["title": "a b", "seats": 13])
    #expect(failures(context) == [.validation: "seats", .missingMandatoryProperty: "topic"])
    (workshop["seats"], workshop["topic"]) = (10, "Swift")
    (workshop["start"], workshop["end"]) = (2, 1)
    #expect(failures(context) == [.validation: nil])
    workshop["end"] = 3
    try context.save()
    #expect(workshop["title"] == "ab")
  }
}
