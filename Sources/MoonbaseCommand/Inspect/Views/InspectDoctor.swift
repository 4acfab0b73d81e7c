import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLiteStore
import MoonbaseScripting

/// The findings of `moonbase doctor`, without repairs. The files are read independently of the session.
///
/// The check of a large file takes long, so that it must not block the session. It has a connection
/// of its own and sees saved values only.
struct InspectDoctor {
  /// The number of findings after which the check stops.
  private static let greatestCount = 1000
  /// The options of the command, with the stores to check.
  let settings: CommandSettings
  /// The model of the session.
  let model: ResolvedModel
  /// Can interrupt functions of extensions.
  let output: InspectOutput

  /// Ends a check that has found enough.
  private struct Enough: Error {}

  /// The findings. They are searched on a thread with a large stack, which scripts need.
  func json() throws -> InspectJSON {
    var result = Result<InspectJSON, any Error>.success(.null)
    ThreadExecutor(name: "moonbase inspect doctor").runAndWait { result = Result { try look() } }
    return try result.get()
  }

  /// Checks the files of all stores, and then the values with the extensions. The answer says
  /// whether the check is complete.
  private func look() throws -> InspectJSON {
    var found: [StoreFinding] = []
    var isWhole = true
    do {
      for store in settings.stores.stores {
        guard let url = store.url else { continue }
        try look(at: url) { finding in
          guard found.count < Self.greatestCount else { throw Enough() }
          found.append(finding)
        }
      }
      try lookWithExtensions(beside: &found)
    } catch is Enough { isWhole = false }
    return [
      "findings": .array(
        found.map { finding in
          [
            "kind": .string(finding.kind.rawValue), "place": .string(finding.place),
            "message": .string(finding.message), "repairable": .bool(finding.repair != .none),
          ]
        }), "whole": .bool(isWhole),
    ]
  }

  /// Checks one file with the stored model.
  ///
  /// - Parameters:
  ///   - url: The location of the store.
  ///   - take: Receives each finding.
  private func look(at url: URL, _ take: @escaping (StoreFinding) throws -> Void) throws {
    try StoreCheck(storeAt: url, model: model.base ?? model, busyTimeout: settings.stores.busyTimeout, take).run()
  }

  /// Checks values with the rules of the extensions. Damaged stores and stores without extensions
  /// are skipped.
  private func lookWithExtensions(beside found: inout [StoreFinding]) throws {
    var stores = settings.stores
    stores.readOnly = true
    let isDamaged = found.contains { [.integrity, .missing].contains($0.kind) }
    guard !stores.extensions.isEmpty, !isDamaged else { return }
    var description = settings.scripts.limiting(try stores.container, stores)
    description.missingExtensions = .ignored
    let container = try PersistentContainer(description)
    let domain = try settings.scripts.requiredDomain()
    let interrupter = domain.state.interrupter
    output.add(interrupter)
    defer {
      output.remove(interrupter)
      domain.close()
    }
    let known = found
    var more: [StoreFinding] = []
    try domain.state.run {
      try ExtensionCheck(container.context(in: domain), known: known) { finding in
        if more.count < Self.greatestCount { more.append(finding) }
      }.run(showing: ProgressBar(quiet: true))
    }
    found += more.prefix(Self.greatestCount - found.count)
  }
}
