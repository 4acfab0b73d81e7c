import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseModel

/// Models of other apps: features that Core Data's compiler accepts give warnings, and are never refused.
@Suite struct ForeignModelTests {
  private func resolved(_ attribute: AttributeDescription) throws -> (AttributeDescription, [String]) {
    var model = ManagedObjectModel { EntityDescription("A") { attribute } }
    #expect(throws: ModelError.self) { try model.resolved() }
    model.allowsUnknownClasses = true
    let resolved = try model.resolved()
    // The resolved model gives no further warnings.
    #expect(try resolved.description.resolved().description == resolved.description)
    // Neither defaults nor rules are in the hash.
    var plain = attribute
    (plain.defaultValue, plain.validation) = (.null, AttributeValidation())
    let bare = try ManagedObjectModel { EntityDescription("A") { plain } }.resolved()
    #expect(resolved.versionHashes == bare.versionHashes)
    let attribute = try #require(resolved.entity("A")?.property("x")?.attribute)
    return (attribute, resolved.warnings)
  }

  @Test(arguments: [
    (AttributeType.integer64, Value.string("NO"), Value.int(0)), (.integer16, .string("12 apples"), .int(12)),
    (.integer32, .double(3.7), .int(3)), (.integer16, .int(70_000), .null), (.boolean, .string("0.0"), .bool(false)),
    (.boolean, .string("1.0"), .bool(true)), (.boolean, .int(2), .bool(true)), (.double, .string("-7x"), .double(-7)),
    (.decimal, .double(0.5), .decimal(Decimal(literal: "0.5") ?? 0)), (.uuid, .string("none"), .null),
    (.uri, .int(1), .null), (.date, .double(60), .date(Date(timeIntervalSinceReferenceDate: 60))),
  ])
  func aDefaultOfAnotherTypeIsReadAsFoundationReadsIt(type: AttributeType, given: Value, expected: Value) throws {
    let (attribute, warnings) = try resolved(AttributeDescription("x", type: type).defaulting(to: given))
    #expect(attribute.defaultValue == expected && warnings.count == 1, "\(attribute.defaultValue) \(warnings)")
    #expect(warnings.first?.hasPrefix("A.x has the default ") == true)
  }

  @Test(arguments: [
    (
      AttributeType.integer16, Value.int(-70_000), Value.int(99_999), Value?.some(.int(-32768)),
      Value?.some(.int(32767))
    ),
    (.integer32, .double(0.5), .double(9.5), .some(.int(1)), .some(.int(9))),
    (.integer64, .double(-1e30), .double(1e30), .some(.int(.min)), .some(.int(.max))),
    (.integer64, .string("few"), .double(.nan), Value?.none, Value?.none),
  ])
  func aBoundThatNoValueHasIsTheNearestOne(
    type: AttributeType, least: Value, greatest: Value, minimum: Value?, maximum: Value?
  ) throws {
    let given = AttributeDescription("x", type: type).with {
      ($0.validation.minimum, $0.validation.maximum) = (least, greatest)
    }
    let (attribute, warnings) = try resolved(given)
    let bounds = attribute.validation
    #expect(bounds.minimum == minimum && bounds.maximum == maximum, "\(bounds)")
    #expect(warnings.count == 2, "\(warnings)")
  }

  @Test func rulesThatNoValuePassesAreWarnings() throws {
    let (_, bounds) = try resolved(AttributeDescription("x", type: .integer16).between(3, 1))
    #expect(bounds == ["A.x has a minimum above its maximum: it takes no value"])
    let (_, pattern) = try resolved(AttributeDescription("x", type: .string).matching("["))
    #expect(pattern == ["A.x has a pattern that is no regular expression, so that it takes no value: ["])
  }

  /// `Picture.author` has the inverse `face`, whose inverse is `Picture.face`.
  @Test func anInverseThatDoesNotLeadBackIsNone() throws {
    var model = ManagedObjectModel {
      EntityDescription("Author") {
        RelationshipDescription.toOne("face", destination: "Picture", inverse: "face")
        RelationshipDescription.toMany("lost", destination: "Picture", inverse: "gone")
      }
      EntityDescription("Picture") {
        RelationshipDescription.toOne("author", destination: "Author", inverse: "face")
        RelationshipDescription.toOne("face", destination: "Author", inverse: "face")
      }
    }
    let error = #expect(throws: ModelError.self) { try model.resolved() }
    #expect(error?.all.count == 2)
    model.allowsUnknownClasses = true
    let resolved = try model.resolved()
    let picture = try #require(resolved.entity("Picture"))
    #expect(picture.property("author")?.relationship?.inverseSlot == nil)
    #expect(picture.property("face")?.relationship?.inverseSlot == resolved.entity("Author")?.slot("face"))
    #expect(
      resolved.warnings == [
        "Author.lost has the inverse gone, which does not lead back to it: the two sides will not be kept in step",
        "Picture.author has the inverse face, which does not lead back to it: the two sides will not be kept in step",
      ])
    // The hash contains the name from the file.
    var other = model
    other.entities[1].relationships[0].inverseName = nil
    #expect(try other.resolved().versionHashes["Picture"] != resolved.versionHashes["Picture"])
  }

  @Test func anIndexOverAToManyRelationshipIsLeftOut() throws {
    var model = ManagedObjectModel {
      EntityDescription("A") { RelationshipDescription.toMany("friends", destination: "A", inverse: "friends") }
    }
    model.entities[0].indexes = [FetchIndexDescription("byFriends", elements: [.init("friends")])]
    #expect(throws: ModelError.self) { try model.resolved() }
    model.allowsUnknownClasses = true
    #expect(try model.resolved().warnings.map { $0.contains("its element friends has no column") } == [true])
  }
}
