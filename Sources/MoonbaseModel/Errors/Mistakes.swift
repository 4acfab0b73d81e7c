/// Gathers what is wrong with a model, so that its author is told everything at once.
package final class Mistakes {
  /// More would not be read, and hostile input could hold millions.
  private static let greatestCount = 100

  private var found: [ModelError] = []

  package init() {}

  package var isEmpty: Bool { found.isEmpty }

  /// Takes an error with the others that came with it; what is known already is left out.
  package func add(_ error: ModelError) {
    for each in error.all where found.count < Self.greatestCount && !found.contains(each) { found.append(each) }
  }

  /// Does something that may fail without stopping at it.
  package func attempt(_ body: () throws(ModelError) -> Void) {
    do { try body() } catch { add(error) }
  }

  /// Throws the first mistake with all others, if there is one.
  package func finish() throws(ModelError) {
    guard var first = found.first else { return }
    first.others = Array(found.dropFirst())
    throw first
  }
}
