import MoonbaseModel
import MoonbasePlatform

/// A fetch in words.
extension FetchPlan {
  var explanation: String { lines.joined(separator: "\n") }

  var lines: [String] {
    var lines = parts.count == 1 ? parts[0].plan.lines : linesOfSeveral
    if hasPending {
      lines.append(
        "unsaved changes: objects that have some are judged as they are now, and take their places in the result")
    }
    return lines
  }

  /// Of several stores each finds its rows; order and window are the context's.
  private var linesOfSeveral: [String] {
    guard !parts.isEmpty else { return ["no open store holds \(entity.name): there are no saved rows"] }
    var lines = parts.flatMap { store, plan in ["in \(store.name):"] + plan.lines.map { "  " + $0 } }
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
