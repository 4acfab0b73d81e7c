import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The contexts that the scripts of one domain work with. The host gave some of them, scripts opened others, and some
/// are children that scripts made.
final class ScriptContexts {
  /// Where a context comes from.
  enum Origin {
    /// The host made it, and closes it.
    case given
    /// A script opened its stores. They count as memory of the script, with so many bytes.
    case opened(weight: Int)
    /// A script made it as a child of another context.
    case child
  }

  private struct Entry {
    let context: ManagedObjectContext
    let origin: Origin

    var isGiven: Bool { if case .given = origin { true } else { false } }
    var weight: Int { if case .opened(let weight) = origin { weight } else { 0 } }
  }

  private var entries: [Entry] = []
  /// The contexts whose extensions are being reloaded.
  private var reloading: Set<ObjectIdentifier> = []
  /// How many contexts there may be before those that no script has any more are looked for.
  private var greatestCount = 16
  /// How many bytes may be in use before that.
  private var greatestMemory = 16 << 20
  private let types: HostTypes
  private unowned let state: LuaState

  init(_ types: HostTypes, in state: LuaState) { (self.types, self.state) = (types, state) }

  /// All of them, in the order in which they came.
  var all: [ManagedObjectContext] { entries.map(\.context) }

  /// The context that the host gave.
  var given: ManagedObjectContext? { entries.first(where: \.isGiven)?.context }

  /// How many objects have changes that are not saved: in contexts over stores, and in children, whose changes only a
  /// save of the child gives to its parent.
  var unsaved: (ofRoots: Int, ofChildren: Int) {
    entries.reduce(into: (0, 0)) { sum, entry in
      let context = entry.context
      let count = context.insertedObjects.count + context.updatedObjects.count + context.deletedObjects.count
      if context.parent == nil { sum.0 += count } else { sum.1 += count }
    }
  }

  func add(_ context: ManagedObjectContext, _ origin: Origin) {
    let entry = Entry(context: context, origin: origin)
    entries.append(entry)
    state.weigh(entry.weight)
  }

  /// Makes a child of a context. A child that is made while a hook of the context runs is closed when the hook
  /// returns, because no script closes the hook's context.
  func child(of parent: ManagedObjectContext) throws -> ManagedObjectContext {
    try parent.checkOpen()
    letGoOfUnused()
    let child = ManagedObjectContext(parent: parent)
    child.mergePolicy = parent.mergePolicy
    add(child, .child)
    parent.atEndOfHook { [unowned self, unowned parent] in
      do { try close(child) } catch { parent.keepLate(GraphError(lateError: error, in: "closing a child context")) }
    }
    return child
  }

  // MARK: Closing

  /// Closes a context that scripts opened or made, its children first. Unsaved changes are given up.
  func close(_ context: ManagedObjectContext) throws {
    if entries.contains(where: { $0.context === context && $0.isGiven }) || !isKnown(context), context.parent == nil {
      throw ScriptError(
        .invalidRequest,
        message:
          "this context is the program's, which closes it: a script closes contexts of moonbase.open and children")
    }
    for child in children(of: context) { try close(child) }
    try context.close()
    remove { $0 === context }
  }

  /// Whether scripts of this domain were given the context, or opened or made it.
  func isKnown(_ context: ManagedObjectContext) -> Bool { entries.contains { $0.context === context } }

  private func children(of context: ManagedObjectContext) -> [ManagedObjectContext] {
    entries.map(\.context).filter { $0.parent === context }
  }

  /// Lets go of all, which keep the domain alive as it keeps them: without this their stores stay open. Children go
  /// first.
  func releaseAllObjects() {
    for entry in entries.reversed() {
      if entry.context.parent != nil { try? entry.context.close() } else { entry.context.endObservations() }
    }
    remove { _ in true }
  }

  private func remove(_ isGone: (ManagedObjectContext) -> Bool) {
    for entry in entries where isGone(entry.context) {
      if entry.context.parent == nil { entry.context.extensionRegistry.owner = nil }
      state.weigh(-entry.weight)
    }
    entries.removeAll { isGone($0.context) }
  }

  /// Contexts that a script opened or made and has nothing of any more, neither changes nor objects nor children, go,
  /// and close their stores.
  ///
  /// Looked at each time twice as many have come, or twice the memory is in use: a script may open thousands, and
  /// what each keeps counts.
  func letGoOfUnused() {
    guard entries.count >= greatestCount || state.memoryUsed >= greatestMemory else { return }
    state.collectGarbage()
    // Children come after their parents.
    for entry in entries.reversed() where isUnused(entry) { remove { $0 === entry.context } }
    greatestCount = max(16, 2 * entries.count)
    state.collectGarbage()
    let used = state.memoryUsed
    greatestMemory = used + max(1 << 20, min(max(16 << 20, used), (state.remainingMemory ?? .max) / 2))
  }

  private func isUnused(_ entry: Entry) -> Bool {
    let context = entry.context
    return !entry.isGiven && context.isUnused && children(of: context).isEmpty && types.context.forget(unheld: context)
  }

  // MARK: Saving

  /// Waits for what other threads still save for these contexts, as long as the limits of the run allow.
  func settle() {
    for entry in entries { entry.context.settle() }
  }

  /// Leaves what other threads still save: a run ended that may not wait.
  func breakOffSaves() {
    for entry in entries { entry.context.breakOffSave() }
  }

  // MARK: Reloading

  /// Reads the extensions of all contexts anew: all take over what was read, or none does.
  func reload() throws { try reload(all) }

  /// Reads the extensions of contexts anew. Contexts that share their extensions, as children do with their parents,
  /// take them over together.
  func reload(_ contexts: [ManagedObjectContext]) throws {
    var domains: Set<ObjectIdentifier> = []
    let roots = contexts.filter {
      $0.extensionRegistry.provider is ScriptExtensions
        && domains.insert(ObjectIdentifier($0.extensionRegistry)).inserted
    }
    guard reloading.isDisjoint(with: domains) else {
      throw GraphError(
        .contextBusy,
        message: "the extensions are being reloaded: neither on_reload nor an extension that is read can do so again")
    }
    try types.domain?.refuseToReload()
    reloading.formUnion(domains)
    defer { reloading.subtract(domains) }
    try ScriptExtensions.reload(of: roots)
  }
}

extension GraphError {
  /// The error of code that is too late to make a call fail.
  init(lateError error: any Error, in operation: String) {
    if let known = error as? GraphError {
      self = known
    } else {
      self.init(.extensionFailure, message: "\(operation): \(error)", underlying: error)
    }
  }
}
