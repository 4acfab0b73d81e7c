import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Texts are compared by code points: a composed and a decomposed é, equal in Swift, are two values.
@Suite struct TextFormTests {
  /// Short and long texts, which Swift stores in different ways.
  static let forms = [("\u{e9}", "e\u{301}"), ("a long name with an \u{e9}", "a long name with an e\u{301}")]

  private func bytes(_ value: Value) -> [UInt8] { Array((value.text ?? "").utf8) }

  @Test(arguments: StoreKind.allCases, forms)
  func theOtherFormIsAnotherValueAndIsSaved(_ kind: StoreKind, _ forms: (String, String)) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": .string(forms.0), "lastName": .string(forms.0)])
    try context.save()
    try person.setValue(.string(forms.0), forKey: "firstName")
    #expect(!person.hasChanges)
    try person.setValue(.string(forms.1), forKey: "firstName")
    #expect(person.hasChanges && bytes(person["firstName"]) == Array(forms.1.utf8))
    try person.setPrimitiveValue(.string(forms.1), forKey: "lastName")
    try context.save()
    for name in ["firstName", "lastName"] {
      #expect(try bench.saved("Person", name).map(bytes) == [Array(forms.1.utf8)])
    }
  }

  @Test(arguments: StoreKind.allCases, forms)
  func bothFormsAreUnique(_ kind: StoreKind, _ forms: (String, String)) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for form in [forms.0, forms.1] { try context.insert("Person", values: ["email": .string(form)]) }
    try context.save()
    #expect(try bench.saved("Person", "email").count == 2)
    try context.insert("Person", values: ["email": .string(forms.1)])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .constraintConflict)
  }

  @Test(arguments: StoreKind.allCases, forms)
  func bothFormsAreRowsAndGroupsOfTheirOwn(_ kind: StoreKind, _ forms: (String, String)) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for form in [forms.0, forms.1, forms.1] { try context.insert("Person", values: ["firstName": .string(form)]) }
    try context.save()
    var distinct = FetchRequest("Person")
    distinct.propertiesToFetch = [FetchColumn("firstName")]
    distinct.returnsDistinctResults = true
    #expect(try context.fetchDictionaries(distinct).count == 2)
    var groups = FetchRequest("Person")
    groups.propertiesToFetch = [FetchColumn("firstName")]
    groups.propertiesToGroupBy = ["firstName"]
    #expect(try context.fetchDictionaries(groups).count == 2)
  }

  @Test(arguments: StoreKind.allCases, forms)
  func aPatternFindsItsOwnForm(_ kind: StoreKind, _ forms: (String, String)) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for form in [forms.0, forms.1] { try context.insert("Person", values: ["firstName": .string(form)]) }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      for comparator in ["==", "LIKE", "MATCHES", "IN", "CONTAINS", "BEGINSWITH"] {
        for form in [forms.0, forms.1] {
          let predicate = try Predicate(format: "firstName \(comparator) %@", .string(form))
          let found = try context.fetch(FetchRequest("Person", where: predicate)).map { bytes($0["firstName"]) }
          #expect(found == [Array(form.utf8)], "\(comparator), saved: \(isSaved)")
        }
      }
    }
  }
}
