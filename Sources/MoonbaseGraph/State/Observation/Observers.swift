import MoonbaseModel

/// The observers of a context's objects, and those to be notified next.
///
/// Records the same events as `outdate`: every change of a value, for any reason, and of values computed from it.
/// Observers are notified at the end of the call that made the change, so that no observer sees an incomplete change.
final class Observers {
  /// The greatest number of times that an observer is notified of changes that observers made.
  private static let greatestTimesTold = 100

  // The tokens of the observations retain the objects.
  private var watches: [ObjectIdentifier: ContiguousArray<ObserverState>] = [:]
  private var waiting: ContiguousArray<ObserverState> = []
  /// Values whose changes show only by comparison.
  private var open: ContiguousArray<ObserverState> = []
  private var isTelling = false
  /// The nesting depth of calls that change several values.
  private var holds = 0

  /// Whether there are observed values that any change may affect.
  var areOpen: Bool { !open.isEmpty }

  /// Registers an observer of an object.
  func add(_ watch: ObserverState, of object: ManagedObject) {
    watches[ObjectIdentifier(object), default: []].append(watch)
    noteOpenness(of: watch)
  }

  /// Ends an observer, possibly while observers are being notified.
  func remove(_ watch: ObserverState, of object: ManagedObject) {
    guard !watch.isOver else { return }
    watch.isOver = true
    var rest = watches.removeValue(forKey: ObjectIdentifier(object)) ?? []
    rest.removeAll { $0 === watch }
    if rest.isEmpty { object.isObserved = false } else { watches[ObjectIdentifier(object)] = rest }
    if watch.isListedAsOpen { open.removeAll { $0 === watch } }
  }

  /// Whether no call is in progress and no observers are being notified.
  var areQuiet: Bool { holds == 0 && !isTelling }

  /// Whether observers have to be notified, or values compared.
  var areWaiting: Bool { !waiting.isEmpty || !open.isEmpty }

  /// Records that a facet of an observed object changed.
  func note(
    _ facet: Facet, of object: ManagedObject, because cause: Derivations.Cause, member: ManagedObjectID?
  ) {
    for watch in watches[ObjectIdentifier(object)] ?? [] where watch.note(facet, because: cause, member: member) {
      wait(watch)
    }
  }

  /// Adds an observer to the observers to be notified.
  private func wait(_ watch: ObserverState) {
    guard !watch.isWaiting else { return }
    watch.isWaiting = true
    waiting.append(watch)
  }

  /// Prepares for the permanent IDs of new objects.
  func prepareForNewIDs() {
    for watch in waiting where !watch.isOver && watch.object.context != nil { watch.prepareForNewIDs() }
  }

  /// Delays notifications while `body` changes several values.
  func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
    holds += 1
    defer { holds -= 1 }
    return try body()
  }

  /// Notifies all waiting observers, including those of changes that observers make meanwhile.
  func tell(in context: ManagedObjectContext) {
    guard holds == 0, !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    for watch in open { wait(watch) }
    var (next, told): (Int, ContiguousArray<ObserverState>) = (0, [])
    while next < waiting.count {
      let watch = waiting[next]
      next += 1
      watch.isWaiting = false
      if watch.isOver || !watch.outlivesObject && watch.object.context !== context { continue }
      watch.timesTold += 1
      guard watch.timesTold <= Self.greatestTimesTold else {
        context.keep(watch.object.failure("its observers change it again and again", property: nil))
        continue
      }
      told.append(watch)
      withExtendedLifetime(watch.object) { watch.tell() }
      noteOpenness(of: watch)
    }
    for watch in told { watch.timesTold = 0 }
    waiting = []
    open.removeAll { !$0.isListedAsOpen }
  }

  /// Registers or unregisters an observer as open.
  private func noteOpenness(of watch: ObserverState) {
    guard !watch.isOver, watch.isListedAsOpen != watch.isOpen else { return }
    watch.isListedAsOpen.toggle()
    if watch.isListedAsOpen { open.append(watch) }
  }

  /// Ends all observations when objects leave the context.
  func removeAll() {
    for watch in watches.values.joined() { watch.isOver = true }
    (watches, waiting, open) = ([:], [], [])
  }
}
