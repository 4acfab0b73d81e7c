import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Stored derived values whose inputs another context saved meanwhile: the saved values follow from the saved inputs
/// under any merge policy.
@Suite struct StaleInputTests {
  private static let policies: [MergePolicy.Name] = [.error, .objectTrump, .storeTrump, .overwrite, .rollback]

  /// Two contexts over one store; `apart` gives them separate row caches.
  private func contexts(_ bench: StoreBench, apart: Bool, _ policy: MergePolicy.Name) -> [ManagedObjectContext] {
    let contexts = [
      bench.context(Clubs.extensions()), apart ? bench.stranger(Clubs.extensions()) : bench.context(Clubs.extensions()),
    ]
    for context in contexts {
      context.mergePolicy = MergePolicy(policy)
      context.retainsRegisteredObjects = true
    }
    return contexts
  }

  @Test(arguments: StoreKind.allCases, policies) func aNewObjectHasWhatTheFileSaysOfItsDestination(
    _ kind: StoreKind, _ policy: MergePolicy.Name
  ) throws {
    for apart in [true, false] {
      let bench = try StoreBench(kind, Clubs.model())
      let contexts = contexts(bench, apart: apart, policy)
      let team = try contexts[0].insert("Team", values: ["s": "a"])
      try contexts[0].save()
      let seen = try contexts[1].object(with: team.objectID)
      #expect(seen["s"] == "a" && seen["label"] == "<a>")
      team["s"] = "b"
      try contexts[0].save()
      let member = try contexts[1].insert("Member", values: ["n": 1])
      try member.setObject(seen, forKey: "team")
      try contexts[1].save()
      #expect(member["mark"] == "b" && member["lab"] == "<b>" && seen["s"] == "b")
      #expect(try Clubs.contradictions(in: bench) == [])
      // The other context has not read the member.
      try contexts[0].refresh(team, mergeChanges: false)
      team["s"] = "c"
      try contexts[0].save()
      #expect(try Clubs.contradictions(in: bench) == [])
    }
  }

  @Test(arguments: StoreKind.allCases, policies) func aSumIsThatOfTheMembersInTheFile(
    _ kind: StoreKind, _ policy: MergePolicy.Name
  ) throws {
    for readsTeam in [true, false] {
      let bench = try StoreBench(kind, Clubs.model())
      let contexts = contexts(bench, apart: readsTeam, policy)
      let team = try contexts[0].insert("Team", values: ["s": "a"])
      let members = try (0..<2).map { _ in try contexts[0].insert("Member", values: ["n": 1]) }
      for member in members { try member.setObject(team, forKey: "team") }
      try contexts[0].save()
      let seen = try members.map { try contexts[1].object(with: $0.objectID) }
      #expect(seen.map { $0["n"] } == [1, 1])
      let seenTeam = try contexts[1].object(with: team.objectID)
      if readsTeam { #expect(seenTeam["total"] == 2) }
      members[0]["n"] = 10
      try contexts[0].save()
      seen[1]["n"] = 100
      // The first save also wrote the other member.
      do { try contexts[1].save() } catch { #expect(policy == .error) }
      #expect(try Clubs.contradictions(in: bench) == [])
    }
  }

  @Test(arguments: StoreKind.allCases, policies) func aDeletionThatIsGivenUpLeavesWhatIsComputedOfTheList(
    _ kind: StoreKind, _ policy: MergePolicy.Name
  ) throws {
    let bench = try StoreBench(kind, Clubs.model())
    let contexts = contexts(bench, apart: true, policy)
    let team = try contexts[0].insert("Team", values: ["s": "a"])
    let members = try (0..<2).map { try contexts[0].insert("Member", values: ["n": .int(Int64($0))]) }
    try team.setObjects([members[0]], forKey: "ranks")
    try contexts[0].save()
    let seen = try contexts[1].object(with: team.objectID)
    try seen.setObjects(members.reversed().map { try contexts[1].object(with: $0.objectID) }, forKey: "ranks")
    try contexts[0].delete(team)
    try contexts[0].processPendingChanges()
    try contexts[1].save()
    do { try contexts[0].save() } catch { #expect(policy == .error) }
    #expect(try Clubs.contradictions(in: bench) == [])
  }

  /// A child computes derived values from the parent's values.
  @Test(arguments: StoreKind.allCases, policies) func aChildComputesFromWhatItsParentHas(
    _ kind: StoreKind, _ policy: MergePolicy.Name
  ) throws {
    let bench = try StoreBench(kind, Clubs.model())
    let parent = bench.context(Clubs.extensions())
    let team = try parent.insert("Team", values: ["s": "a"])
    let members = try (0..<2).map { _ in try parent.insert("Member", values: ["n": 1]) }
    for member in members { try member.setObject(team, forKey: "team") }
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    child.mergePolicy = MergePolicy(policy)
    let seen = try child.object(with: team.objectID)
    let seenMembers = try seen.objects(forKey: "members")
    #expect(seen["s"] == "a" && seenMembers.map { $0["n"] } == [1, 1])
    team["s"] = "b"
    members[0]["n"] = 10
    let new = try child.insert("Member", values: ["n": 100])
    try new.setObject(seen, forKey: "team")
    try child.save()
    let mine = try parent.object(with: new.objectID)
    #expect(mine["mark"] == "b" && mine["lab"] == "<b>" && team["total"] == 111 && team["s"] == "b")
    try parent.save()
    #expect(try Clubs.contradictions(in: bench) == [] && parent.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases, 0..<Repetition.staleInputSeeds.count)
  func whateverTwoContextsSaveTheFileHoldsWhatItsValuesGive(_ kind: StoreKind, _ seed: Int) throws {
    for policy in Self.policies {
      let bench = try StoreBench(kind, Clubs.model())
      var random = SplitMix(UInt64(seed))
      let contexts = contexts(bench, apart: seed % 2 == 0, policy)
      try saveAtRandom(contexts, steps: 40, &random, change: Clubs.change) { log in
        let wrong = try Clubs.contradictions(in: bench)
        try #require(wrong == [], "\(policy), seed \(seed): \(log.joined(separator: "\n"))")
      }
    }
  }
}

/// Teams with members, tags and clubs, and attributes derived from each other's values and stored.
private enum Clubs {
  static func model() -> ManagedObjectModel {
    func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
      AttributeDescription(name, type: type).with { $0.derivationExpression = expression }
    }
    return ManagedObjectModel {
      EntityDescription("Club") {
        AttributeDescription("s", type: .string)
      }
      EntityDescription("Tag") {
        AttributeDescription("w", type: .integer64)
        RelationshipDescription.toMany("teams", destination: "Team", inverse: "tags")
      }
      EntityDescription("Team") {
        AttributeDescription("s", type: .string)
        AttributeDescription("count", type: .integer64)
        AttributeDescription("total", type: .integer64)
        AttributeDescription("weight", type: .integer64)
        AttributeDescription("order", type: .string)
        RelationshipDescription.toMany("members", destination: "Member", inverse: "team")
        RelationshipDescription.toMany("ranks", destination: "Member", inverse: "rankedBy").with { $0.isOrdered = true }
        RelationshipDescription.toMany("tags", destination: "Tag", inverse: "teams")
        derived("sqlCount", .integer64, "members.@count")
        derived("sqlTotal", .integer64, "members.n.@sum")
      }
      EntityDescription("Member") {
        AttributeDescription("n", type: .integer64)
        AttributeDescription("mark", type: .string)
        AttributeDescription("lab", type: .string)
        AttributeDescription("far", type: .integer64)
        AttributeDescription("clubName", type: .string)
        RelationshipDescription.toOne("team", destination: "Team", inverse: "members")
        RelationshipDescription.toOne("rankedBy", destination: "Team", inverse: "ranks")
        RelationshipDescription.toOne("club", destination: "Club")
        derived("sqlMark", .string, "team.s")
      }
    }
  }

  private static func sum(_ objects: [ManagedObject], _ key: String) throws -> Value {
    .int(
      try objects.reduce(0) { sum, object in
        if case .int(let value) = try object.value(forKey: key) { sum + value } else { sum }
      })
  }

  private static func text(_ objects: [ManagedObject], _ key: String) throws -> Value {
    .string(try objects.map { try $0.value(forKey: key).description }.joined(separator: " "))
  }

  private typealias Getter = (ManagedObject) throws -> Value

  private static var teamGetters: [(name: String, inputs: [String], get: Getter)] {
    [
      ("count", ["members.@count"], { .int(Int64(try $0.objects(forKey: "members").count)) }),
      ("total", ["members.@sum.n"], { try sum($0.objects(forKey: "members"), "n") }),
      ("weight", ["tags.@sum.w"], { try sum($0.objects(forKey: "tags"), "w") }),
      ("order", ["ranks.n"], { try text($0.objects(forKey: "ranks"), "n") }),
    ]
  }

  private static var memberGetters: [(name: String, inputs: [String], get: Getter)] {
    [
      ("mark", ["team.s"], { try $0.object(forKey: "team")?.value(forKey: "s") ?? .null }),
      ("lab", ["team.label"], { try $0.object(forKey: "team")?.value(forKey: "label") ?? .null }),
      ("far", ["team.total"], { try $0.object(forKey: "team")?.value(forKey: "total") ?? .null }),
      ("clubName", ["club.s"], { try $0.object(forKey: "club")?.value(forKey: "s") ?? .null }),
    ]
  }

  private static var label: DerivedAttribute {
    DerivedAttribute("label", type: .string, ownInputs: ["s"]) { team in
      .string("<\(try team.value(forKey: "s").text ?? "")>")
    }
  }

  static func extensions() -> [String: [EntityExtension]] {
    var (team, member) = (EntityExtension(), EntityExtension())
    team.derived = [label]
    team.stored = teamGetters.map { DerivedAttribute($0.name, inputs: $0.inputs, get: $0.get) }
    member.stored = memberGetters.map { DerivedAttribute($0.name, inputs: $0.inputs, get: $0.get) }
    return ["Team": [team], "Member": [member]]
  }

  /// The stored derived values that do not follow from the other values of the file.
  static func contradictions(in bench: StoreBench) throws -> [String] {
    var entry = EntityExtension()
    entry.derived = [label]
    let fresh = bench.stranger(["Team": [entry]])
    var wrong: [String] = []
    func check(_ object: ManagedObject, _ name: String, _ wanted: Value) throws {
      let found = try object.value(forKey: name)
      if found != wanted { wrong.append("\(object.objectID).\(name) is \(found), not \(wanted)") }
    }
    for team in try fresh.fetch(FetchRequest("Team")) {
      for getter in teamGetters { try check(team, getter.name, getter.get(team)) }
      let members = try team.objects(forKey: "members")
      try check(team, "sqlCount", .int(Int64(members.count)))
      try check(team, "sqlTotal", sum(members, "n"))
    }
    for member in try fresh.fetch(FetchRequest("Member")) {
      for getter in memberGetters { try check(member, getter.name, getter.get(member)) }
      try check(member, "sqlMark", member.object(forKey: "team")?.value(forKey: "s") ?? .null)
    }
    return wrong
  }

  /// Makes a random change and returns its description.
  static func change(_ context: ManagedObjectContext, _ random: inout SplitMix) throws -> String {
    func any(_ entity: String) throws -> ManagedObject? {
      let all = try context.fetch(FetchRequest(entity)).sorted { $0.objectID.key < $1.objectID.key }
      return all.randomElement(using: &random)
    }
    let number = Int64.random(in: 1..<100, using: &random)
    switch Int.random(in: 0..<14, using: &random) {
    case 0: return "inserts \(try context.insert("Team", values: ["s": .string("t\(number)")]).objectID)"
    case 1, 2:
      let member = try context.insert("Member", values: ["n": .int(number)])
      try member.setObject(any("Team"), forKey: "team")
      return "inserts \(member)"
    case 3: return "inserts \(try context.insert("Tag", values: ["w": .int(number)]).objectID)"
    case 4: return "inserts \(try context.insert("Club", values: ["s": .string("c\(number)")]).objectID)"
    case 5: return try set(any("Team"), "s", .string("t\(number)"))
    case 6: return try set(any("Member"), "n", .int(number))
    case 7: return try set(any("Tag"), "w", .int(number))
    case 8: return try set(any("Club"), "s", .string("c\(number)"))
    case 9:
      guard let member = try any("Member") else { return "does nothing" }
      let team = number < 20 ? nil : try any("Team")
      try member.setObject(team, forKey: "team")
      return "\(member.objectID).team = \(team?.objectID.description ?? "nil")"
    case 10:
      guard let member = try any("Member") else { return "does nothing" }
      let club = try any("Club")
      try member.setObject(club, forKey: "club")
      return "\(member.objectID).club = \(club?.objectID.description ?? "nil")"
    case 11:
      guard let team = try any("Team"), let tag = try any("Tag") else { return "does nothing" }
      let isThere = try team.objects(forKey: "tags").contains { $0 === tag }
      try isThere ? team.remove(tag, from: "tags") : team.add(tag, to: "tags")
      return "\(team.objectID).tags \(isThere ? "-" : "+") \(tag.objectID)"
    case 12:
      guard let team = try any("Team"), let member = try any("Member") else { return "does nothing" }
      var ranks = try team.objects(forKey: "ranks").filter { $0 !== member }
      ranks.insert(member, at: Int.random(in: 0...ranks.count, using: &random))
      try team.setObjects(ranks, forKey: "ranks")
      return "\(team.objectID).ranks = \(ranks.map(\.objectID))"
    default:
      guard let object = try any(["Member", "Tag", "Team"][Int(number) % 3]) else { return "does nothing" }
      try context.delete(object)
      return "deletes \(object.objectID)"
    }
  }

  private static func set(_ object: ManagedObject?, _ key: String, _ value: Value) throws -> String {
    guard let object else { return "does nothing" }
    try object.setValue(value, forKey: key)
    return "\(object.objectID).\(key) = \(value)"
  }
}
