import MoonbaseModel
import MoonbasePlatform

/// The numbers of objects in a run of `moonbase each`.
///
/// Workers make a report for each batch, and `EachWork` adds them up.
struct EachReport: Sendable {
  /// The objects that were visited.
  var visited = 0
  /// The visited objects that were changed.
  var changed = 0
  /// Objects that were changed but not visited in the same batch.
  var othersChanged = 0
  /// The objects that the function inserted.
  var inserted = 0
  /// The objects that the function deleted.
  var deleted = 0
  /// The objects whose function or save failed.
  var failed = 0
  /// Objects that were deleted after the start and before the visit.
  var gone = 0
  /// Objects that were visited in a batch that was not completed, so that nothing of it is saved. They are not part of
  /// `visited`.
  var givenUp = 0

  /// Adds the numbers of a batch.
  mutating func add(_ other: EachReport) {
    visited += other.visited
    changed += other.changed
    othersChanged += other.othersChanged
    inserted += other.inserted
    deleted += other.deleted
    failed += other.failed
    gone += other.gone
    givenUp += other.givenUp
  }

  /// A summary such as `1000 objects visited: 995 changed, 5 failed; 0.3 s, 3226 a second`.
  ///
  /// With `isDry`, the words say that nothing was saved.
  func summary(of total: Int, isDry: Bool, seconds: Double) -> String {
    let would = isDry ? "would be " : ""
    let counts = [
      (othersChanged, "others \(would)changed"), (inserted, "\(would)inserted"), (deleted, "\(would)deleted"),
      (failed, "failed"),
      (gone, "gone before their turn"), (givenUp, isDry ? "not looked at to the end" : "not saved"),
    ]
    let parts = ["\(changed) \(would)changed"] + counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let all = visited + givenUp
    let number = all + gone < total ? "\(all) of \(total)" : "\(all)"
    let objects = number == "1" ? "1 object" : "\(number) objects"
    let rate = seconds > 0 ? Int(Double(all) / seconds) : 0
    let time = String(format: "%.1f s, %d a second", seconds, rate)
    return "\(objects) visited: \(parts.joined(separator: ", ")); \(time)"
  }

  /// The report as JSON.
  ///
  /// `total` is the number of objects that matched.
  func values(of total: Int, isDry: Bool, seconds: Double) -> [String: Value] {
    [
      "matched": .count(total), "visited": .count(visited + givenUp), "changed": .count(changed),
      "othersChanged": .count(othersChanged), "inserted": .count(inserted), "deleted": .count(deleted),
      "failed": .count(failed), "gone": .count(gone), "notSaved": .count(givenUp), "dryRun": .bool(isDry),
      "seconds": .seconds(seconds),
    ]
  }

  /// A description of the state after an interruption.
  ///
  /// The text says which changes are saved.
  var interruption: String {
    let others = failed > 0 ? ", but for those that failed" : ""
    guard givenUp > 0 else { return "what was done with the objects visited is saved\(others)" }
    return
      "what was done with \(visited) of \(visited + givenUp) objects visited is saved\(others); the other \(givenUp) are "
      + "as they were, for the code did not come to the end of their batch"
  }
}
