import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The contexts that the scripts of a domain work with: contexts from the host, contexts that scripts opened, and
/// children that scripts made.
///
/// Owned by the domain. Entries retain their contexts, since a script may hold only a weak handle. Contexts that a
/// script opened are released when they are unused (`letGoOfUnused()`), which bounds open files in long scripts.
final class ScriptContexts {
  /// The origin of a context.
  enum Origin {
    /// The host made the context and closes it.
    case given
    /// A script opened the context's stores. Their weight in bytes counts as memory of the script.
    case opened(weight: Int)
    /// A script made the context as a child of another context.
    case child
  }

  /// A context of the list with its origin.
  private struct Entry {
    let context: ManagedObjectContext
    let origin: Origin

    var isGiven: Bool { if case .given = origin { true } else { false } }
    /// Bytes counted for the opened stores; 0 for other origins.
    var weight: Int { if case .opened(let weight) = origin { weight } else { 0 } }
  }

  /// The contexts in the order of `add`; children after their parents.
  private var entries: [Entry] = []
  /// The contexts whose extensions are being reloaded.
  private var reloading: Set<ObjectIdentifier> = []
  /// The number of contexts at which unused contexts are searched for next.
  private var greatestCount = 16
  /// The memory use in bytes at which unused contexts are searched for next.
  private var greatestMemory = 16 << 20
  /// The types of the domain's state, which hold the handles of contexts.
  private let types: HostTypes
  private unowned let state: LuaState

  /// An empty list for a state.
  init(_ types: HostTypes, in state: LuaState) { (self.types, self.state) = (types, state) }

  /// All contexts, in the order in which they were added.
  var all: [ManagedObjectContext] { entries.map(\.context) }

  /// The context that the host gave.
  var given: ManagedObjectContext? { entries.first(where: \.isGiven)?.context }

  /// The number of objects with unsaved changes: in contexts over stores, and in children, whose changes reach the
  /// parent only when the child saves.
  var unsaved: (ofRoots: Int, ofChildren: Int) {
    entries.reduce(into: (0, 0)) { sum, entry in
      let context = entry.context
      let count = context.insertedObjects.count + context.updatedObjects.count + context.deletedObjects.count
      if context.parent == nil { sum.0 += count } else { sum.1 += count }
    }
  }

  /// Adds a context and counts its weight.
  func add(_ context: ManagedObjectContext, _ origin: Origin) {
    let entry = Entry(context: context, origin: origin)
    entries.append(entry)
    state.weigh(entry.weight)
  }

  /// Makes a child of a context. A child that is made while a hook of the context runs is closed when the hook
  /// returns, because no script closes the hook's context.
  ///
  /// The child inherits the merge policy. Throws `.invalidObject` if the parent was closed.
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

  /// Closes a context that scripts opened or made, after its children. Unsaved changes are discarded.
  ///
  /// Throws `.invalidRequest` for the context that the host gave and for contexts unknown to this domain.
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

  /// Whether scripts of this domain received, opened or made the context.
  func isKnown(_ context: ManagedObjectContext) -> Bool { entries.contains { $0.context === context } }

  /// The direct children, in the order in which they were made.
  private func children(of context: ManagedObjectContext) -> [ManagedObjectContext] {
    entries.map(\.context).filter { $0.parent === context }
  }

  /// Releases all contexts, children first. Contexts and domain retain each other, so their stores would stay open
  /// otherwise.
  func releaseAllObjects() {
    for entry in entries.reversed() {
      if entry.context.parent != nil { try? entry.context.close() } else { entry.context.endObservations() }
    }
    remove { _ in true }
  }

  /// Removes entries, uncounts their weight, and detaches the domain from their registries.
  private func remove(_ isGone: (ManagedObjectContext) -> Bool) {
    for entry in entries where isGone(entry.context) {
      if entry.context.parent == nil { entry.context.extensionRegistry.owner = nil }
      state.weigh(-entry.weight)
    }
    entries.removeAll { isGone($0.context) }
  }

  /// Releases contexts that scripts opened or made and no longer use: without changes, objects or children. Releasing a
  /// context closes its stores.
  ///
  /// Runs whenever the number of contexts or the memory in use has doubled, because a script may open thousands of
  /// contexts.
  ///
  /// Collects garbage first, because handles that Lua has not collected yet keep contexts in use. The next search
  /// follows when the number of contexts has doubled or memory has grown by at least 1 MiB.
  func letGoOfUnused() {
    guard entries.count >= greatestCount || state.memoryUsed >= greatestMemory else { return }
    state.collectGarbage()
    // Children come after their parents in the list.
    for entry in entries.reversed() where isUnused(entry) { remove { $0 === entry.context } }
    greatestCount = max(16, 2 * entries.count)
    state.collectGarbage()
    let used = state.memoryUsed
    greatestMemory = used + max(1 << 20, min(max(16 << 20, used), (state.remainingMemory ?? .max) / 2))
  }

  /// Whether the context may be released: not from the host, without changes, objects, children and held handles.
  private func isUnused(_ entry: Entry) -> Bool {
    let context = entry.context
    return !entry.isGiven && context.isUnused && children(of: context).isEmpty && types.context.forget(unheld: context)
  }

  // MARK: Saving

  /// Waits for pending saves on other threads, within the limits of the run. Called before a run ends and before
  /// results are handed over. Errors stay with their contexts.
  func waitForPendingSaves() {
    for entry in entries { entry.context.waitForPendingSave() }
  }

  /// Abandons pending saves on other threads, for a run that ended and may not wait.
  func breakOffSaves() {
    for entry in entries { entry.context.breakOffSave() }
  }

  // MARK: Reloading

  /// Reloads the extensions of all contexts. Either all contexts adopt the new extensions or none does.
  func reload() throws { try reload(all) }

  /// Reloads the extensions of contexts. Contexts that share extensions, such as children with their parents, adopt
  /// them together.
  ///
  /// Throws `.contextBusy` if a reload of one of these contexts is running, as in an `on_reload` function.
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
  /// The error of code that runs too late to fail the operation.
  init(lateError error: any Error, in operation: String) {
    if let known = error as? GraphError {
      self = known
    } else {
      self.init(.extensionFailure, message: "\(operation): \(error)", underlying: error)
    }
  }
}
