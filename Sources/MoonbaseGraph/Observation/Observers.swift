import MoonbaseModel

/// Who observes the objects of a context, and whom to tell.
///
/// It hears what `outdate` hears: whatever is another value by whichever door, and what was computed from it. It tells when the call that
/// changed something is done, so that no observer sees half of it.
final class Observers {
  /// An observer is told no more often while others answer to what he is told.
  private static let greatestTimesTold = 100

  // Objects are kept by the tokens of the observations.
  private var watches: [ObjectIdentifier: ContiguousArray<Watch>] = [:]
  private var waiting: ContiguousArray<Watch> = []
  /// Values that nothing but looking tells of.
  private var open: ContiguousArray<Watch> = []
  private var isTelling = false
  /// How many calls are on their way that change several things.
  private var holds = 0

  /// Whether values are observed that anything may change.
  var areOpen: Bool { !open.isEmpty }

  func add(_ watch: Watch, of object: ManagedObject) {
    watches[ObjectIdentifier(object), default: []].append(watch)
    noteOpenness(of: watch)
  }

  func remove(_ watch: Watch, of object: ManagedObject) {
    guard !watch.isOver else { return }
    watch.isOver = true
    var rest = watches.removeValue(forKey: ObjectIdentifier(object)) ?? []
    rest.removeAll { $0 === watch }
    if rest.isEmpty { object.isObserved = false } else { watches[ObjectIdentifier(object)] = rest }
    if watch.isListedAsOpen { open.removeAll { $0 === watch } }
  }

  /// Whether nothing is half done, and nobody is being told.
  var areQuiet: Bool { holds == 0 && !isTelling }

  /// Whether anybody is to be told something, or to look.
  var areWaiting: Bool { !waiting.isEmpty || !open.isEmpty }

  /// A facet of an object that is observed is another one.
  func note(
    _ facet: Facet, of object: ManagedObject, because cause: Derivations.Cause, member: ManagedObjectID?
  ) {
    for watch in watches[ObjectIdentifier(object)] ?? [] where watch.note(facet, because: cause, member: member) {
      wait(watch)
    }
  }

  private func wait(_ watch: Watch) {
    guard !watch.isWaiting else { return }
    watch.isWaiting = true
    waiting.append(watch)
  }

  /// New objects are about to get their permanent IDs.
  func prepareForNewIDs() {
    for watch in waiting where !watch.isOver && watch.object.context != nil { watch.prepareForNewIDs() }
  }

  /// Nobody is told anything while `body` runs, which changes several things.
  func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
    holds += 1
    defer { holds -= 1 }
    return try body()
  }

  /// Tells all who wait, and those who wait because of what these do.
  func tell(in context: ManagedObjectContext) {
    guard holds == 0, !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    for watch in open { wait(watch) }
    var (next, told): (Int, ContiguousArray<Watch>) = (0, [])
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

  private func noteOpenness(of watch: Watch) {
    guard !watch.isOver, watch.isListedAsOpen != watch.isOpen else { return }
    watch.isListedAsOpen.toggle()
    if watch.isListedAsOpen { open.append(watch) }
  }

  /// The objects are no longer of the context.
  func removeAll() {
    for watch in watches.values.joined() { watch.isOver = true }
    (watches, waiting, open) = ([:], [], [])
  }
}

extension ManagedObjectContext {
  /// Tells observers what changed, where anybody waits to hear of it: a call that changed something is done.
  @inline(__always)
  func tellObservers() {
    if hasNewsForObservers { tellWaitingObservers() }
  }

  @inline(never)
  private func tellWaitingObservers() {
    // A save or a hook tells when it is done.
    guard phase == nil, hookDepth == 0 else { return }
    observers.tell(in: self)
    if derivations.hasListeners, observers.areQuiet { listeners.tell(in: self) }
    settleObservers()
  }

  /// Who observes an object is to be told of a facet.
  func note(
    _ facet: Facet, of object: ManagedObject, because cause: Derivations.Cause, member: ManagedObjectID?
  ) {
    observers.note(facet, of: object, because: cause, member: member)
    if observers.areWaiting { hasNewsForObservers = true }
  }

  /// Extensions were reloaded: whatever they compute may be another value, and may be there only now or not any more.
  func noteReload(from former: ResolvedModel) {
    for object in registered.values.map({ $0.takeUnretainedValue() }) where object.isObserved {
      let added = former.entities[object.entity.index].addedProperties + object.entity.addedProperties
      for slot in Set(object.entity.transientSlots + added.map(\.slot)).sorted() {
        note(Facet(slot), of: object, because: .row, member: nil)
      }
    }
    tellListenersOfEverything()
  }

  func observe(_ object: ManagedObject, _ watch: Watch) {
    object.isObserved = true
    observers.add(watch, of: object)
    settleObservers()
  }

  func stopObserving(_ object: ManagedObject, _ watch: Watch) {
    observers.remove(watch, of: object)
    settleObservers()
  }

  /// What is looked at everywhere follows what the observers are.
  private func settleObservers() {
    hasNewsForObservers = observers.areWaiting || !listeners.news.isEmpty
    if derivations.hasOpenObservers != observers.areOpen { derivations.hasOpenObservers = observers.areOpen }
  }
}

extension ManagedObject {
  /// A call that changed something is done.
  @inline(__always)
  final func tellObservers() {
    table._withUnsafeGuaranteedRef { table in
      guard let context = table.contextReference, context._withUnsafeGuaranteedRef({ $0.hasNewsForObservers }) else {
        return
      }
      context.takeUnretainedValue().tellObservers()
    }
  }
}
