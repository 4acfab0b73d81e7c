import MoonbaseGraph
import MoonbaseTestSupport

/// Makes random changes in one context after another; saves a third of them, and rolls back a refused save.
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
