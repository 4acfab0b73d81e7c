import MoonbaseModel
import MoonbasePlatform

/// The description of a fetch for display.
///
/// For `FetchRequest` explanations of programs and of `moonbase`.
extension FetchPlan {
  /// Each step is a line, indented below its store.
  func lines() throws -> [String] {
    var lines = try linesOfStores()
    if hasPending {
      lines.append(
        "unsaved changes: objects that have some are judged as they are now, and take their places in the result")
    }
    return lines
  }

  /// With several stores, each finds rows, and the context applies order and window. Throws errors of the stores.
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
