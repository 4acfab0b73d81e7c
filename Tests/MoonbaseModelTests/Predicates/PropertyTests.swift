import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

@Suite struct PropertyTests {
  @Test(arguments: 1...UInt64(Repetition.predicateSeeds.count))
  func randomTreesPrintAndParseToThemselves(_ seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    for _ in 0..<200 {
      let predicate = random.predicate()
      #expect(try Predicate(format: predicate.description) == predicate, "\(predicate)")
    }
  }

  @Test(arguments: 1...UInt64(Repetition.predicateSeeds.count))
  func randomTreesEvaluateLikeTheNaiveEvaluator(_ seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    let world = World.shared
    for _ in 0..<200 {
      let predicate = random.predicate()
      let checked = try predicate.checked(against: world.person, in: world.model)
      let compiled = try CompiledPredicate(checked, entity: world.person, in: world.model)
      for row in world.people {
        let expected = NaiveEvaluator().truth(predicate, row) == true
        #expect(try compiled.matches(row) == expected, "\(predicate) on \(row.key)")
      }
    }
  }

  /// Archives have classes and numbers instead of words, XML and Lua escape the text.
  @Test(arguments: 1...UInt64(Repetition.predicateSeeds.count))
  func randomTreesSurviveEveryFormOfAModel(_ seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    var model = World.shared.model.description
    for number in 0..<50 {
      model.fetchRequestTemplates["f\(number)"] = FetchRequest("Person", where: random.predicate())
    }
    let archived = try ManagedObjectModel(archive: model.resolved().archive())
    #expect(archived.warnings == [])
    let xcode = try ManagedObjectModel.read(ModelSource(Data(model.xcodeContents().utf8), name: "contents"))
    let tree = try ManagedObjectModel(tree: model.tree(), file: "m.lua")
    for (name, request) in model.fetchRequestTemplates {
      for other in [archived, xcode, tree] {
        let found = other.fetchRequestTemplates[name]?.predicate
        #expect(found == request.predicate, "\(request.predicate as Any)")
      }
    }
  }

  @Test(arguments: 1...UInt64(Repetition.predicateSeeds.count))
  func equalTreesHashAlikeAndChangedOnesDiffer(_ seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    for _ in 0..<100 {
      let predicate = random.predicate()
      let same = try Predicate(format: predicate.description)
      #expect(predicate.hashValue == same.hashValue)
      #expect(Set([predicate, same]).count == 1)
      #expect(predicate != .not(predicate) && predicate != .and([predicate, .constant(true)]))
    }
  }

  /// A short version of `scripts/fuzz predicate`.
  @Test func brokenTextIsRefusedOrUnderstood() {
    var random = RandomPredicates(seed: 7)
    let signs = Array(##"({["'\#%@$.:=!-*/@"##.utf8)
    let lines = parsingCases.lines + fetchCases.lines
    for _ in 0..<5000 {
      var bytes = Array(lines[random.below(lines.count)].input.utf8)
      for _ in 0...random.below(3) where !bytes.isEmpty {
        let index = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes.remove(at: index)
        case 1: bytes[index] = UInt8(random.below(256))
        default: bytes.insert(signs[random.below(signs.count)], at: index)
        }
      }
      PredicateFuzzing.run(bytes)
    }
  }
}
