import Foundation
import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Attributes that stores derive from saved values by Core Data's derivation expressions.
struct StoredDerivationTests {
  /// Teams of players, in leagues, with tags. `League` is one of two subentities of `Group`.
  private func model() -> ManagedObjectModel {
    func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
      var attribute = AttributeDescription(name, type: type)
      attribute.derivationExpression = expression
      return attribute
    }
    let group = EntityDescription("Group") {
      AttributeDescription("name", type: .string)
      derived("canonicalName", .string, "canonical:(name)")
    }
    let league = EntityDescription("League") {
      RelationshipDescription.toMany("teams", destination: "Team", inverse: "league")
      derived("players", .integer64, "teams.playerCount.@sum")
    }.with { $0.superentityName = "Group" }
    let team = EntityDescription("Team") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("league", destination: "League", inverse: "teams")
      RelationshipDescription.toMany("players", destination: "Player", inverse: "team")
      RelationshipDescription.toMany("tags", destination: "Tag", inverse: "teams")
      derived("shout", .string, "uppercase:(name)")
      derived("leagueName", .string, "league.name")
      derived("playerCount", .integer32, "players.@count")
      derived("tagCount", .integer64, "tags.@count")
      derived("goals", .integer64, "players.goals.@sum")
      derived("wages", .decimal, "players.wage.@sum")
      derived("best", .integer16, "players.goals.@max")
      derived("mean", .double, "players.goals.@avg")
      derived("tagWeight", .double, "tags.weight.@sum")
      derived("savedAt", .date, "now()")
    }
    let player = EntityDescription("Player") {
      AttributeDescription("goals", type: .integer16)
      AttributeDescription("wage", type: .decimal)
      RelationshipDescription.toOne("team", destination: "Team", inverse: "players")
      derived("league", .string, "lowercase:(team.league.name)")
    }
    let tag = EntityDescription("Tag") {
      AttributeDescription("weight", type: .double)
      RelationshipDescription.toMany("teams", destination: "Team", inverse: "tags")
    }
    return ManagedObjectModel(entities: [group, league, team, player, tag])
  }

  @Test(arguments: StoreKind.allCases) func whatLeadsToItselfIsCountedOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(
      kind,
      ManagedObjectModel {
        EntityDescription("Node") {
          RelationshipDescription.toOne("boss", destination: "Node", inverse: "kids")
          RelationshipDescription.toMany("kids", destination: "Node", inverse: "boss")
          AttributeDescription("count", type: .integer64).with { $0.derivationExpression = "kids.@count" }
        }
        EntityDescription("Leaf", parent: "Node") {}
      })
    let context = bench.context()
    let nodes = try ["Node", "Leaf"].map { try context.insert($0) }
    for node in nodes { try node.setObject(node, forKey: "boss") }
    try context.save()
    #expect(nodes.map { $0["count"] } == [1, 1])
    try nodes[1].setObject(nodes[0], forKey: "boss")
    try context.save()
    #expect(nodes.map { $0["count"] } == [2, 0])
    let stranger = bench.stranger()
    let leaf = try stranger.object(with: nodes[1].objectID)
    #expect(try leaf.object(forKey: "boss")?.objectID == nodes[0].objectID)
    #expect(try stranger.object(with: nodes[0].objectID).object(forKey: "boss")?.objectID == nodes[0].objectID)
  }

  @Test(arguments: StoreKind.allCases) func eachFormFollowsASave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    let context = bench.context()
    let league = try context.insert("League", values: ["name": "Zürich Nord"])
    let team = try context.insert("Team", values: ["name": "moon ß"])
    try team.setObject(league, forKey: "league")
    let tag = try context.insert("Tag", values: ["weight": 0.5])
    try team.add(tag, to: "tags")
    let players = try (0..<3).map { number in
      try context.insert("Player", values: ["goals": .int(Int64(number)), "wage": .decimal(Decimal(string: "0.1")!)])
    }
    for player in players { try player.setObject(team, forKey: "team") }
    #expect(team["shout"] == nil && team["goals"] == nil, "nothing is derived before the save")
    let before = Date()
    try context.save()
    #expect(league["canonicalName"] == "zurich nord" && league["players"] == 3)
    #expect(team["shout"] == "MOON SS" && team["leagueName"] == "Zürich Nord")
    #expect(team["playerCount"] == 3 && team["tagCount"] == 1 && team["goals"] == 3 && team["best"] == 2)
    #expect(team["mean"] == 1.0 && team["tagWeight"] == 0.5)
    #expect(team["wages"] == .decimal(Decimal(string: "0.3")!))
    #expect(players[0]["league"] == "zürich nord")
    guard case .date(let saved) = team["savedAt"] else { Issue.record("no date"); return }
    #expect(saved.timeIntervalSince(before) > -1 && saved.timeIntervalSince(before) < 60)
    // The values follow changes of other contexts, at both ends of relationships.
    league["name"] = "Süd"
    players[2]["goals"] = 9
    try players[1].setObject(nil, forKey: "team")
    tag["weight"] = 2.0
    try context.save()
    #expect(team["leagueName"] == "Süd" && players[0]["league"] == "süd" && players[1]["league"] == nil)
    #expect(team["goals"] == 9 && team["playerCount"] == 2 && team["best"] == 9 && team["tagWeight"] == 2.0)
    #expect(league["players"] == 2)
    #expect(team["savedAt"] == .date(saved), "the team itself was not written")
    try context.delete(players[2])
    try context.delete(tag)
    try context.save()
    #expect(team["goals"] == 0 && team["playerCount"] == 1 && team["tagCount"] == 0 && team["tagWeight"] == 0.0)
    #expect(league["players"] == 1)
    // The store has the values, and fetches find objects by them.
    let fresh = bench.stranger()
    let request = FetchRequest("Team", where: try Predicate(format: "playerCount == 1 AND shout == 'MOON SS'"))
    #expect(try fresh.fetch(request).map(\.objectID) == [team.objectID])
  }

  @Test(arguments: StoreKind.allCases) func anotherContextHearsOfWhatFollows(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    let (writer, reader) = (bench.context(), bench.context())
    reader.automaticallyMergesChangesFromParent = true
    let team = try writer.insert("Team", values: ["name": "a"])
    try writer.save()
    let seen = try reader.object(with: team.objectID)
    #expect(seen["playerCount"] == 0)
    let player = try writer.insert("Player", values: ["goals": 4])
    try player.setObject(team, forKey: "team")
    try writer.save()
    try reader.processPendingChanges()
    #expect(seen["playerCount"] == 1 && seen["goals"] == 4)
    // A derived value causes no conflict with a change of another attribute.
    seen["name"] = "b"
    try reader.save()
  }

  @Test(arguments: StoreKind.allCases) func aSaveThatFailsDerivesNothing(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    let (one, two) = (bench.context(), bench.context())
    let team = try one.insert("Team", values: ["name": "a"])
    let player = try one.insert("Player", values: ["goals": 1])
    try player.setObject(team, forKey: "team")
    try one.save()
    let other = try two.object(with: player.objectID)
    other["goals"] = 2
    player["goals"] = 3
    try two.save()
    #expect(throws: GraphError.self) { try one.save() }
    let reader = bench.stranger()
    #expect(try reader.object(with: team.objectID)["goals"] == 2)
    try one.rollback()
    try one.refresh(player, mergeChanges: false)
    player["goals"] = 5
    try one.save()
    #expect(team["goals"] == 5)
  }

  /// Sums of small integers, large integers and floats, in types that overflow with more than one addend.
  private static let narrow = ManagedObjectModel {
    EntityDescription("Team") {
      derived("goals", .integer16, of: "players.goals.@sum")
      derived("points", .integer64, of: "players.points.@sum")
      derived("weight", .float, of: "players.weight.@sum")
      RelationshipDescription.toMany("players", destination: "Player", inverse: "team")
    }
    EntityDescription("Player") {
      AttributeDescription("goals", type: .integer16)
      AttributeDescription("points", type: .integer64)
      AttributeDescription("weight", type: .float)
      RelationshipDescription.toOne("team", destination: "Team", inverse: "players")
    }
  }

  private static func derived(_ name: String, _ type: AttributeType, of expression: String) -> AttributeDescription {
    AttributeDescription(name, type: type).with { $0.derivationExpression = expression }
  }

  @Test(
    arguments: StoreKind.allCases,
    [
      (
        "goals", Value.int(20_000), GraphError.Code.numberTooLarge,
        "gives 40000, which does not fit an Integer 16 (-32768 to 32767)"
      ),
      ("goals", .int(-20_000), .numberTooSmall, "players.goals.@sum gives -40000"),
      ("points", .int(.max), .numberTooLarge, "an Integer 64 (-9223372036854775808 to 9223372036854775807)"),
      ("weight", .double(2e38), .numberTooLarge, "does not fit a float (to 3.4028235e+38)"),
    ]) func aSaveOfMoreThanTheDerivedTypeHoldsFailsAndAllIsAsBefore(
      _ kind: StoreKind, _ sum: (key: String, part: Value, code: GraphError.Code, message: String)
    ) throws
  {
    let bench = try StoreBench(kind, Self.narrow)
    let context = bench.context()
    let team = try context.insert("Team")
    let first = try context.insert("Player", values: [sum.key: sum.part])
    try first.setObject(team, forKey: "team")
    try context.save()
    let saved = team[sum.key]
    let second = try context.insert("Player", values: [sum.key: sum.part])
    try second.setObject(team, forKey: "team")
    let error = try #require(throws: GraphError.self) { try context.save() }
    #expect(error.code == sum.code && error.entity == "Team" && error.property == sum.key)
    #expect(error.objectID == team.objectID && error.value != nil)
    #expect(error.message.contains(sum.message), "\(error)")
    let fresh = bench.stranger()
    #expect(try fresh.count(FetchRequest("Player")) == 1)
    #expect(try fresh.object(with: team.objectID)[sum.key] == saved)
    #expect(second.isInserted && team[sum.key] == saved)
    // With one addend less, the same save succeeds.
    second[sum.key] = .null
    try context.save()
    let late = bench.stranger()
    #expect(try late.count(FetchRequest("Player")) == 2 && late.object(with: team.objectID)[sum.key] == saved)
  }

  @Test(arguments: StoreKind.allCases) func aBatchRequestOfMoreThanTheDerivedTypeHoldsWritesNothing(
    _ kind: StoreKind
  ) throws {
    let bench = try StoreBench(kind, Self.narrow)
    let context = bench.context()
    let team = try context.insert("Team")
    for _ in 0..<4 { try context.insert("Player", values: ["goals": 1]).setObject(team, forKey: "team") }
    try context.save()
    var update = BatchUpdateRequest("Player")
    update.propertiesToUpdate["goals"] = try .init(format: "goals * 10000")
    let error = try #require(throws: GraphError.self) { try context.execute(update) }
    #expect(error.code == .numberTooLarge && error.property == "goals", "\(error)")
    #expect(try bench.saved("Player", "goals") == [1, 1, 1, 1] && bench.saved("Team", "goals") == [4])
  }

  @Test(arguments: StoreKind.allCases) func batchRequestsDeriveToo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    let context = bench.context()
    let team = try context.insert("Team", values: ["name": "a"])
    for goals in 1...4 {
      try context.insert("Player", values: ["goals": .int(Int64(goals))]).setObject(team, forKey: "team")
    }
    try context.save()
    var update = BatchUpdateRequest("Player")
    update.propertiesToUpdate["goals"] = try .init(format: "goals * 10")
    try context.execute(update)
    let early = bench.stranger()
    #expect(try early.object(with: team.objectID)["goals"] == 100)
    try context.execute(BatchDeleteRequest(FetchRequest("Player", where: try Predicate(format: "goals > 20"))))
    let late = bench.stranger()
    let fresh = try late.object(with: team.objectID)
    #expect(fresh["goals"] == 30 && fresh["playerCount"] == 2)
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5] as [UInt64], StoreKind.allCases)
  func whateverIsSavedWhatIsDerivedIsWhatItsExpressionSays(_ seed: UInt64, _ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    let context = bench.context()
    var random = SplitMix(seed)
    var objects: [String: [ManagedObject]] = [:]
    func any(_ entity: String) -> ManagedObject? { objects[entity]?.randomElement(using: &random) }
    func insert(_ entity: String, _ values: [String: Value]) throws {
      objects[entity, default: []].append(try context.insert(entity, values: values))
    }
    for round in 0..<12 {
      for step in 0..<12 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: try insert("Player", ["goals": .int(Int64(step)), "wage": .decimal(Decimal(step) / 8)])
        case 2: try insert("Team", ["name": .string("T\(round)ü\(step)")])
        case 3: try insert("League", ["name": .string("É\(step)")])
        case 4: try insert("Tag", ["weight": .double(Double(step))])
        case 5: any("Player")?["goals"] = .int(Int64(round))
        case 6: try any("Player")?.setObject(any("Team"), forKey: "team")
        case 7: try any("Team")?.setObject(any("League"), forKey: "league")
        case 8: any("League")?["name"] = .string("Ñ\(round)")
        case 9:
          if let team = any("Team"), let tag = any("Tag") {
            let isThere = try team.objects(forKey: "tags").contains { $0 === tag }
            try isThere ? team.remove(tag, from: "tags") : team.add(tag, to: "tags")
          }
        case 10: any("Tag")?["weight"] = .double(Double(round) / 4)
        default:
          let entity = ["Player", "Team", "League", "Tag"].randomElement(using: &random)!
          if let object = any(entity) {
            try context.delete(object)
            objects[entity]!.removeAll { $0 === object }
          }
        }
      }
      try context.save()
      let fresh = bench.stranger()
      for (entity, derived) in Self.expectations {
        for object in try fresh.fetch(FetchRequest(entity)) {
          let own = try context.object(with: object.objectID)
          for (name, expression) in derived {
            let holds = "(\(name) == NULL AND \(expression) == NULL) OR \(name) == \(expression)"
            #expect(try Predicate(format: holds).evaluate(with: object), "\(entity).\(name) in round \(round)")
            #expect(own[name] == object[name], "\(entity).\(name) in the context that saved, in round \(round)")
          }
        }
      }
    }
  }

  /// The expected value of each attribute, computed in memory.
  private static let expectations: KeyValuePairs = [
    "League": ["canonicalName": "canonical:(name)", "players": "teams.@sum.playerCount"],
    "Team": [
      "shout": "uppercase:(name)", "leagueName": "league.name", "playerCount": "players.@count",
      "tagCount": "tags.@count", "goals": "players.@sum.goals", "wages": "players.@sum.wage",
      "best": "players.@max.goals", "mean": "players.@avg.goals", "tagWeight": "tags.@sum.weight",
    ],
    "Player": ["league": "lowercase:(team.league.name)"],
  ]
}
