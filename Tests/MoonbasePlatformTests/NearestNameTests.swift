import MoonbasePlatform
import Testing

@Suite struct NearestNameTests {
  private static let names = ["firstName", "lastName", "age", "department", "isActive"]

  @Test(arguments: [
    ("fistName", "firstName"), ("lastname", "lastName"), ("aeg", "age"), ("departmnet", "department"),
    ("isactiv", "isActive"), ("Age", "age"),
  ])
  func aMisspeltNameIsFound(wrong: String, right: String) {
    #expect(nearestName(to: wrong, among: Self.names) == right)
  }

  @Test(arguments: ["salary", "x", "", "xe", "completelyDifferentThing"])
  func aNameThatIsFarFromAllIsNot(name: String) {
    #expect(nearestName(to: name, among: Self.names) == nil)
  }

  @Test func theNameItselfIsNoSuggestion() {
    #expect(nearestName(to: "age", among: ["age"]) == nil)
  }

  @Test func shortNamesAreNotNearEachOther() {
    #expect(nearestName(to: "B", among: ["A"]) == nil)
    #expect(nearestName(to: "-x", among: ["-e"]) == nil)
    #expect(nearestName(to: "a", among: ["A"]) == "A")
    #expect(nearestName(to: "di", among: ["id"]) == "id")
  }

  @Test func hugeNamesCostNothing() {
    let huge = String(repeating: "a", count: 1_000_000)
    #expect(nearestName(to: huge, among: [huge + "b"]) == nil)
    #expect(nearestName(to: "a", among: [huge]) == nil)
  }

  @Test func theSuggestionIsASentenceOrNothing() {
    #expect(suggestion(for: "ag", among: Self.names) == "; did you mean age?")
    #expect(suggestion(for: "zzzz", among: Self.names) == "")
  }
}
