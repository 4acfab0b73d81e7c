/// Collects the mistakes of a model, so that its author gets all of them in a single error.
package final class Mistakes {
  /// The most mistakes collected. A reader would not read more, and hostile input could cause millions.
  package static let greatestCount = 100

  /// The mistakes in the order of their discovery, except for an error that ends the run.
  private var found: [ModelError] = []
  /// Whether the run that reads the model must end; later mistakes are ignored.
  private var isOver = false

  /// An empty collection.
  package init() {}

  /// Whether further mistakes are ignored.
  package var isFull: Bool { isOver || found.count >= Self.greatestCount }

  /// Adds an error with its `others`, without duplicates. The error is an autoclosure, because its suggestion compares
  /// all names and is not needed once the collection is full.
  package func add(_ error: @autoclosure () -> ModelError) {
    guard !isFull else { return }
    for each in error().all where !isFull && !found.contains(each) {
      isOver = each.code.endsRun
      // The error that ends the run comes first, because it explains why other mistakes may be missing.
      found.insert(each, at: isOver ? 0 : found.count)
    }
  }

  /// Runs a check and collects its error. Does nothing once the collection is full.
  package func attempt(_ body: () throws(ModelError) -> Void) {
    guard !isFull else { return }
    do { try body() } catch { add(error) }
  }

  /// Throws the first mistake with all others, if there are mistakes.
  package func finish() throws(ModelError) {
    guard var first = found.first else { return }
    first.others = Array(found.dropFirst())
    throw first
  }
}
