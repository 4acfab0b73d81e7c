import MoonbaseGraph
import MoonbaseTestSupport

/// Changes in one of several contexts after the other, at random, each third of which is saved, or rolled back where that is refused.
func saveAtRandom(
  _ contexts: [ManagedObjectContext], steps: Int, _ random: inout SplitMix,
  change: (ManagedObjectContext, inout SplitMix) throws -> String, check: (_ log: [String]) throws -> Void
) throws {
  var log: [String] = []
  for step in 0..<steps {
    let number = Int.random(in: 0..<contexts.count, using: &random)
    let context = contexts[number]
    log.append("\(step): context \(number) \(try change(context, &random))")
    guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
    do {
      try context.save()
      log.append("saved by \(number)")
    } catch {
      log.append("not saved by \(number): \(error)")
      try context.rollback()
    }
    try check(log)
  }
}
