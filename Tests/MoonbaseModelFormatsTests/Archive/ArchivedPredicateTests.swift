import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Predicates in archives.
@Suite struct ArchivedPredicateTests {
  /// Every kind of predicate and expression that an archive can hold.
  @Test(arguments: [
    "TRUEPREDICATE", "FALSEPREDICATE", "age == 3", "age != 3 AND NOT (firstName == NULL OR age < 1.5)",
    "firstName BEGINSWITH[cd] \"a\" OR firstName ENDSWITH \"b\" OR firstName LIKE \"a*\" OR firstName MATCHES \"a.\"",
    "age BETWEEN {1, 2}", "age IN {1, 2, 3}", "ANY friends.age > 3", "ALL friends.age >= $AGE",
    "friends.@count > 2", "SUBQUERY(friends, $f, $f.age > 3).@count > 0", "uppercase(firstName) == \"A\"",
    "age + 1 > age * 2 - 3", "TERNARY(age > 3, 1, 2) == 1", "department.name == $FETCH_SOURCE.name",
    "FUNCTION(firstName, \"length\") > 3", "age == CAST(\"3\", \"NSNumber\")", "active == TRUE",
    "age == 0.1000000000000000055", "age IN {12345678901234567890.5, -0.12345678901234567890123456789012345678}",
  ])
  func aPredicateSurvivesAnArchive(text: String) throws {
    var model = SampleModels.rich
    model.fetchRequestTemplates = ["x": FetchRequest("Person", where: try MoonbaseModel.Predicate(format: text))]
    let again = try ManagedObjectModel(archive: model.resolved().archive())
    #expect(again.fetchRequestTemplates == model.fetchRequestTemplates)
  }
}
