import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// SQL and memory give the same results.
@Suite struct AgreementTests {
  private static let names: [Value] = [.null, "", "Ada", "ada", "ÅDA", "A_a", "Zoë", "zoe\u{301}", "*"]
  private static let terms = [
    "age > 1", "age != 2", "age == NULL", "age IN {0, 2}", "age BETWEEN {1, 2}", "age + 1 == 2", "age / 2 == 1",
    "modulus:by:(age, 2) == 1", "age & 1 == 1", "age | 1 == 3", "age ^ 3 == 1", "1 << age == 4", "8 >> age == 2",
    "age << -1 == 1", "~age == -2", "~(age + 0.5) == -2", "age * 1.5 & 3 == 1", "age & 0b10 == 0o2",
    "firstName == 'Ada'", "firstName != 'Ada'", "firstName == NULL", "firstName != NULL",
    "firstName ==[c] 'ada'", "firstName ==[cd] 'ada'", "firstName < 'a'", "firstName CONTAINS 'd'",
    "firstName CONTAINS ''", "firstName BEGINSWITH[c] 'A'", "firstName ENDSWITH[d] 'e'", "firstName LIKE 'A?a'",
    "firstName LIKE[cd] '*a*'", "firstName MATCHES '[A-Z].*'", "firstName IN {'Ada', NULL}", "firstName IN[c] {'ADA'}",
    "firstName IN 'Adam'", "firstName IN[c] 'adam'", "ANY friends.firstName IN 'Adam'",
    "ALL friends.firstName IN 'Adam'",
    "lowercase:(firstName) == 'ada'", "firstName == lastName", "born > CAST(5, 'NSDate')", "born == NULL",
    "department == NULL", "department != NULL", "department.name == 'Moon'", "department.name != 'Moon'",
    "department.name == NULL", "ANY friends.age > 1", "ALL friends.age > 1", "NONE friends.age > 1",
    "ANY friends.firstName == NULL", "ALL friends.firstName == 'Ada'", "friends.@count > 1", "friends.@sum.age > 2",
    "friends.@max.age == 2", "friends.@avg.age > 1", "ANY friends.department.name == 'Moon'",
    "ANY department.employees.friends.age == 2", "SELF IN friends", "ANY friends == SELF",
    "SUBQUERY(friends, $f, $f.age > age).@count > 0", "department.employees.@count == 2",
    "ANY department.projects.title == 'x'", "department.employees.@sum.age > 4", "department.employees.@max.age == 2",
    "department.employees.@avg.age > 1", "department.projects.@count == 0",
    "NONE department.employees.age > 1", "ALL department.employees.age >= 1", "department.employees.@min.age == 0",
    "department.employees.@count > age", "ALL department.employees.department.name == 'Moon'",
    "SUBQUERY(department.employees, $e, $e.age > 1).@count > 1", "email == '3' AND ANY department.employees.age > 1",
    "SUBQUERY(department.employees, $e, $e.department.employees.@count > $e.age).@count > 1",
    "SUBQUERY(department.employees, $e, SUBQUERY($e.friends, $f, $f.age > $e.age).@count > 0).@count > 1",
    "SUBQUERY(department.employees, $e, $e.department.name == department.name).@count > 1",
    "SUBQUERY(friends, $f, $f.department.employees.@count > 4).@count > 0", "ANY friends.friends.friends.age == 3",
    "email IN {'1', '2'} AND department.employees.@count > 4", "email == '4' AND ANY friends.department.name == 'Moon'",
    "color == NULL", "TRUEPREDICATE", "FALSEPREDICATE", "born < now()", "age > CAST('1', 'NSNumber')", "age < 1 + 1",
    "firstName == uppercase('ada')", "department.objectID == NULL", "department.objectID != NULL",
    "ANY friends.objectID != NULL", "objectID != NULL",
  ]

  /// Inserts the same numbered objects into both stores.
  private func fill(_ context: ManagedObjectContext, _ seed: UInt64) throws {
    var random = SplitMix(seed)
    var people: [ManagedObject] = []
    let departments = try ["Moon", nil, "Sun"].map { name in
      let department = try context.insert("Department")
      try department.setValue(name.map(Value.string) ?? .null, forKey: "name")
      return department
    }
    for number in 0..<24 {
      let person = try context.insert(number % 3 == 0 ? "Employee" : "Person")
      try person.setValue(.string("\(number)"), forKey: "email")
      try person.setValue(.int(Int64(random.next(4))), forKey: "age")
      try person.setValue(Self.names[random.next(Self.names.count)], forKey: "firstName")
      try person.setValue(Self.names[random.next(Self.names.count)], forKey: "lastName")
      if random.next(2) == 0 {
        try person.setValue(.date(Date(timeIntervalSinceReferenceDate: Double(random.next(10)))), forKey: "born")
      }
      let department = random.next(4)
      if department < 3 { try person.setObject(departments[department], forKey: "department") }
      people.append(person)
    }
    for person in people {
      for _ in 0..<random.next(4) { try person.add(people[random.next(people.count)], to: "friends") }
      if random.next(3) == 0 { try person.add(person, to: "friends") }
    }
    try context.save()
  }

  private func names(_ context: ManagedObjectContext, _ predicate: Predicate, _ sort: [SortDescriptor] = []) throws
    -> [String]
  {
    var request = FetchRequest("Person", where: predicate)
    request.sortDescriptors = sort
    let found = try context.fetch(request).map { object in
      if case .string(let name) = try object.value(forKey: "email") { name } else { "" }
    }
    return sort.isEmpty ? found.sorted() : found
  }

  @Test(arguments: [1, 2, 3], StoreKind.engines)
  func sqlAndMemoryAgreeOnEveryKindOfTermAloneNegatedAndCombined(seed: UInt64, kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let memory = PersistentStoreCoordinator(model: model)
    try memory.add(InMemoryStore(model: model))
    let store = try kind.store(for: model, in: folder)
    let sqlite = PersistentStoreCoordinator(model: model)
    try sqlite.add(store)
    try fill(ManagedObjectContext(memory), seed)
    try fill(ManagedObjectContext(sqlite), seed)
    let (inMemory, inFile) = (try ManagedObjectContext(memory), try ManagedObjectContext(sqlite))
    let query = StoreQuery(entity: model.entity("Person")!, in: model)
    var random = SplitMix(seed)
    var translated = 0
    for (index, term) in Self.terms.enumerated() {
      let other = Self.terms[random.next(Self.terms.count)]
      for text in [term, "NOT (\(term))", "(\(term)) AND NOT (\(other))", "(\(other)) OR (\(term))"] {
        let predicate = try Predicate(format: text)
        if try store.canEvaluate(predicate, for: query) { translated += 1 }
        let (expected, found) = (try names(inMemory, predicate), try names(inFile, predicate))
        #expect(expected == found, "\(index): \(text)")
      }
    }
    // An engine that calls no functions of the process leaves matching and arithmetic.
    #expect(translated > Self.terms.count * (kind == .sqlite ? 3 : 1))
    for keys in ["age", "-firstName", "department.name", "born", "friends.@count", "department.employees.@sum.age"] {
      let sort = [SortDescriptor(text: keys), SortDescriptor("email")]
      #expect(try names(inMemory, .constant(true), sort) == names(inFile, .constant(true), sort), "\(keys)")
    }
    let folded = [SortDescriptor("firstName", comparator: .caseInsensitiveCompare), SortDescriptor("email")]
    #expect(try names(inMemory, .constant(true), folded) == names(inFile, .constant(true), folded))
  }

  /// Text of a file with these settings is compared in memory only, and all other values in SQL.
  @Test(arguments: ["PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'", ""])
  func aFileWhoseTextSQLiteComparesInAWayOfItsOwnAgreesToo(_ settings: String) throws {
    let (folder, copy) = (try TemporaryFolder(), try TemporaryFolder())
    let model = try People.model().resolved()
    let written = PersistentStoreCoordinator(model: model)
    try written.add(SQLiteStore(url: folder.file(), model: model))
    try fill(ManagedObjectContext(written), 4)
    let words = settings.isEmpty ? "NAME VARCHAR COLLATE NOCASE" : "NAME VARCHAR"
    try RawDatabase(folder.file()).copy(to: copy.file(), settings: settings, replacing: "NAME VARCHAR", with: words)
    let store = try SQLiteStore(url: copy.file(), model: model)
    #expect(store.isReadOnly && !store.missingFeatures.isEmpty)
    let read = PersistentStoreCoordinator(model: model)
    try read.add(store)
    let (plain, other) = (try ManagedObjectContext(written), try ManagedObjectContext(read))
    let query = StoreQuery(entity: model.entity("Person")!, in: model)
    var translated = 0
    for term in Self.terms {
      for text in [term, "NOT (\(term))"] {
        let predicate = try Predicate(format: text)
        if try store.canEvaluate(predicate, for: query) { translated += 1 }
        #expect(try names(plain, predicate) == names(other, predicate), "\(text)")
      }
    }
    #expect(translated > Self.terms.count)
    for keys in ["firstName", "-department.name", "age"] {
      let sort = [SortDescriptor(text: keys), SortDescriptor("email")]
      #expect(try names(plain, .constant(true), sort) == names(other, .constant(true), sort), "\(keys)")
    }
    var groups = FetchRequest("Person")
    groups.propertiesToGroupBy = ["firstName"]
    groups.propertiesToFetch = ["firstName", FetchColumn("@max.age")]
    #expect(try plain.fetchDictionaries(groups) == other.fetchDictionaries(groups))
  }

  @Test func sqlAndMemoryAgreeOnWhatIsComputedOfOwnersThatManyShare() throws {
    let worlds = try Worlds { context in
      var random = SplitMix(5)
      let marks = try (0..<5).map { rank in
        let mark = try context.insert("Mark")
        try mark.setValue(.int(Int64(rank)), forKey: "rank")
        return mark
      }
      var things: [ManagedObject] = []
      for number in 0..<40 {
        let thing = try context.insert("Thing")
        try thing.setValue(.string("\(number)"), forKey: "name")
        if number > 3, random.next(4) > 0 { try thing.setObject(things[random.next(4)], forKey: "boss") }
        for mark in marks where random.next(3) == 0 { try thing.add(mark, to: "marks") }
        things.append(thing)
      }
    }
    for text in [
      "boss.marks.@count > 1", "boss.marks.@sum.rank > 3", "boss.marks.@min.rank == 0", "boss.marks.@avg.rank > 1.5",
      "boss.staff.@count == 8", "SUBQUERY(boss.marks, $m, $m.rank > 1).@count == 1", "boss.marks.@count == 0",
      "SUBQUERY(boss.marks, $m, $m.things.@count > 12).@count > 1", "NOT boss.marks.@sum.rank == 0",
      "ANY boss.marks.rank == 3", "SUBQUERY(boss.staff, $s, $s.boss.marks.@count > 1).@count > 2",
      "marks.@count > 1", "marks.@count == 0", "marks.@sum.rank > 3", "ANY marks.rank == 3", "ALL marks.rank > 1",
      "SUBQUERY(marks, $m, $m.rank > 1).@count == 1", "SUBQUERY(marks, $m, ANY $m.things.boss != NULL).@count > 1",
    ] {
      let predicate = try Predicate(format: text)
      let expected = try worlds.names(worlds.memory, predicate)
      #expect(
        try worlds.store.canEvaluate(
          predicate, for: StoreQuery(entity: worlds.model.entity("Thing")!, in: worlds.model)), "\(text)")
      #expect(try worlds.names(worlds.file, predicate) == expected, "\(text)")
      #expect(try worlds.names(worlds.unsaved, predicate) == expected, "\(text)")
    }
  }
}
