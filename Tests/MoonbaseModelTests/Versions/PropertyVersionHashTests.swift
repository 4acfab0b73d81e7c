import MoonbaseModel
import MoonbasePlatform
import Testing

/// Hashes of properties that Apple's compiler wrote for real models.
@Suite struct PropertyVersionHashTests {
  @Test func theHashOfARequiredStringIsThatOfApple() {
    var name = AttributeDescription("name", type: .string)
    name.isOptional = false
    #expect(name.versionHash.hex == "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890")
  }

  @Test func theHashOfAnOptionalStringIsThatOfApple() {
    let name = AttributeDescription("petName", type: .string)
    #expect(name.versionHash.hex == "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742")
  }

  @Test func theHashesOfTransientAttributesAreThoseOfApple() {
    var speed = AttributeDescription("currentDrivingSpeed", type: .integer64)
    speed.isTransient = true
    #expect(speed.versionHash.hex == "ebb767a7f9d02625e899d4b7fab01c78ccaae8c120424c9394cabbe9017353e7")
    var driving = AttributeDescription("isDriving", type: .boolean)
    driving.isTransient = true
    driving.isOptional = false
    #expect(driving.versionHash.hex == "126b6a6d7e27f9c7398c77768a7d2213f11c45bac0c2246ddac8e885e2874b8d")
  }

  @Test func theHashOfAValueThatIsKeptInHistoryIsThatOfApple() {
    var id = AttributeDescription("id", type: .uuid)
    id.isOptional = false
    id.preservesValueInHistoryOnDeletion = true
    #expect(id.versionHash.hex == "3f41bba0910aa0eeb185058d518a6415630c2839c3b12a0287d912205b2de797")
  }

  @Test func theHashesOfRelationshipsAreThoseOfApple() {
    let cars = RelationshipDescription.toMany("cars", destination: "Car", inverse: "owner")
    #expect(cars.versionHash.hex == "3c620a49254a65e4fdd1816f9dcb43be5310e63cd52f762a262a9831a688f86f")
    let owner = RelationshipDescription.toOne("owner", destination: "Person", inverse: "cars")
    #expect(owner.versionHash.hex == "de1c089788a726f3fe40c12bfbf0f4d48833e8afa94bf16d82bf8dec1f49ef0d")
  }

  @Test func whatDoesNotCountForTheVersionLeavesTheHash() {
    let plain = AttributeDescription("name", type: .string)
    var rich = plain
    rich.defaultValue = "x"
    rich.userInfo = ["a": 1]
    rich.valueClassName = "Name"
    rich.validation.minimumLength = 3
    #expect(rich.versionHash == plain.versionHash)
    rich.versionHashModifier = "2"
    #expect(rich.versionHash != plain.versionHash)
  }
}

extension Data {
  fileprivate var hex: String { map { String(format: "%02x", $0) }.joined() }
}
