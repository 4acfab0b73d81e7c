/// The sessions that a save begins before it is planned, because new objects get their keys in them, by store number.
final class BegunSessions {
  /// In the order of beginning, which is that of the store numbers.
  private var all: [(number: UInt32, session: any SaveSession)] = []

  /// Sessions that nobody took are aborted.
  deinit { abort() }

  /// Throws errors of the store.
  func begin(_ store: any PersistentStore, number: UInt32, author: String?) throws {
    all.append((number, try store.beginSave(author: author)))
  }

  /// The session of a store; nil if none was begun. The session stays here.
  subscript(number: UInt32) -> (any SaveSession)? { all.first { $0.number == number }?.session }

  /// Removes a session and returns it; the caller ends it.
  func remove(_ number: UInt32) -> (any SaveSession)? {
    all.firstIndex { $0.number == number }.map { all.remove(at: $0).session }
  }

  /// Aborts the remaining sessions, except those of the given stores. In the reverse order of beginning.
  func abort(but numbers: [UInt32] = []) {
    for entry in all.reversed() where !numbers.contains(entry.number) { entry.session.abort() }
    all.removeAll { !numbers.contains($0.number) }
  }
}
