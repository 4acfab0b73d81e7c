/// The sessions that a save began before it was planned, because new objects get their keys in them, by the numbers of their stores.
final class BegunSessions {
  private var all: [(number: UInt32, session: any SaveSession)] = []

  deinit { abort() }

  func begin(_ store: any PersistentStore, number: UInt32, author: String?) throws {
    all.append((number, try store.beginSave(author: author)))
  }

  /// The session of a store; nil where none was begun.
  subscript(number: UInt32) -> (any SaveSession)? { all.first { $0.number == number }?.session }

  /// Hands a session over to who ends it.
  func take(_ number: UInt32) -> (any SaveSession)? {
    all.firstIndex { $0.number == number }.map { all.remove(at: $0).session }
  }

  /// Gives up those that nobody took, but for some stores'.
  func abort(but numbers: [UInt32] = []) {
    for entry in all.reversed() where !numbers.contains(entry.number) { entry.session.abort() }
    all.removeAll { !numbers.contains($0.number) }
  }
}
