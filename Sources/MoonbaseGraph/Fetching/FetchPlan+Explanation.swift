import MoonbaseModel
import MoonbasePlatform

/// A fetch in words.
extension FetchPlan {
  func lines() throws -> [String] {
    var lines = try linesOfStores()
    if hasPending {
      lines.append(
        "unsaved changes: objects that have some are judged as they are now, and take their places in the result")
    }
    return lines
  }

  /// Of several stores each finds its rows; order and window are the context's.
  private func linesOfStores() throws -> [String] {
    var lines: [String] = []
    for (store, plan) in parts {
      let part = plan.lines(steps: try store.steps(of: plan))
      if parts.count == 1 { return part }
      lines += ["in \(store.name):"] + part.map { "  " + $0 }
    }
    if sort != nil { lines.append("the context sorts the rows of the stores together") }
    if let words = QueryPlan.words((request.fetchLimit, request.fetchOffset)) {
      lines.append("the context applies \(words)")
    }
    return lines
  }
}

extension PersistentStore {
  /// The path of its file, or its UUID: what errors and explanations call it.
  var name: String { url?.relativePath ?? "store \(identifier)" }
}
