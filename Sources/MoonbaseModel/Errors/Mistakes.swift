/// Gathers what is wrong with a model, so that its author is told everything at once.
package final class Mistakes {
  /// More would not be read, and hostile input could hold millions.
  package static let greatestCount = 100

  private var found: [ModelError] = []
  /// Whether the run must end for which the model is read: what comes after is not looked at.
  private var isOver = false

  package init() {}

  /// Whether no more are taken.
  package var isFull: Bool { isOver || found.count >= Self.greatestCount }

  /// Takes an error with the others that came with it; what is known already is left out. It is not even made where there are
  /// enough: to find the name that was meant takes a look at all names.
  package func add(_ error: @autoclosure () -> ModelError) {
    guard !isFull else { return }
    for each in error().all where !isFull && !found.contains(each) {
      isOver = each.code.endsRun
      // It is the reason why the others may not be all.
      found.insert(each, at: isOver ? 0 : found.count)
    }
  }

  /// Does something that may fail without stopping at it. Where there are mistakes enough nothing is done.
  package func attempt(_ body: () throws(ModelError) -> Void) {
    guard !isFull else { return }
    do { try body() } catch { add(error) }
  }

  /// Throws the first mistake with all others, if there is one.
  package func finish() throws(ModelError) {
    guard var first = found.first else { return }
    first.others = Array(found.dropFirst())
    throw first
  }
}
