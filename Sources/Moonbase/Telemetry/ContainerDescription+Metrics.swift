#if Metrics
  public import Metrics
  import MoonbasePlatform

  // With the package trait Metrics only: docs/guide.md, "Logs and figures".

  extension ContainerDescription {
    /// Counts and times saves, fetches, reads of faults, statements and calls of extension functions.
    ///
    /// The figures go to the bootstrapped metrics system, or to `factory`. Existing receivers stay. Statements are
    /// measured for the stores in the description at the time of the call.
    ///
    /// | name | kind | dimensions |
    /// |---|---|---|
    /// | `moonbase.save.duration` | timer | |
    /// | `moonbase.save.errors` | counter | |
    /// | `moonbase.fetch.duration`, `.count.duration`, `.fault.duration` | timer | `entity` |
    /// | `moonbase.fetch.errors`, `.count.errors`, `.fault.errors` | counter | `entity` |
    /// | `moonbase.statement.duration` | timer | `verb`, as `SELECT` |
    /// | `moonbase.extension.duration` | timer | `extension`, `function` |
    /// | `moonbase.extension.errors` | counter | `extension`, `function` |
    ///
    /// The timers count the calls too. `prefix` replaces `moonbase` in the names.
    public mutating func setMetrics(
      prefix: String = "moonbase", factory: any MetricsFactory = MetricsSystem.factory
    ) {
      let meters = Meters(prefix: prefix, factory: factory)
      addMeter(meters)
      addProfile { meters.record($0) }
      addStatementReceiver { meters.record($0) }
    }
  }

  /// The timers and counters of a container, each made at its first use.
  private final class Meters: GraphMeter {
    private struct Key: Hashable {
      var name: String
      var dimensions: [String]
    }

    private struct Pair: Sendable {
      var duration: Metrics.Timer
      var errors: Counter
    }

    private let prefix: String
    private let factory: any MetricsFactory
    private let known = Lock<[Key: Pair]>([:])

    init(prefix: String, factory: any MetricsFactory) { (self.prefix, self.factory) = (prefix, factory) }

    func record(_ operation: GraphOperation) {
      let entity = operation.entity.map { [("entity", $0)] } ?? []
      record(operation.kind.rawValue, entity, operation.duration, errors: operation.error == nil ? 0 : 1)
    }

    func record(_ entry: ExtensionProfile.Entry) {
      record(
        "extension", [("extension", entry.source), ("function", entry.function)], entry.cost.duration,
        errors: entry.cost.errors)
    }

    func record(_ entry: SQLLog.Entry) { record("statement", [("verb", entry.verb)], entry.duration, errors: 0) }

    private func record(_ name: String, _ dimensions: [(String, String)], _ duration: Duration, errors: Int) {
      let pair = pair(name, dimensions)
      pair.duration.record(duration: duration)
      if errors > 0 { pair.errors.increment(by: errors) }
    }

    private func pair(_ name: String, _ dimensions: [(String, String)]) -> Pair {
      let key = Key(name: name, dimensions: dimensions.map(\.1))
      return known.withLock { known in
        if let pair = known[key] { return pair }
        let label = "\(prefix).\(name)"
        let pair = Pair(
          duration: Metrics.Timer(label: "\(label).duration", dimensions: dimensions, factory: factory),
          errors: Counter(label: "\(label).errors", dimensions: dimensions, factory: factory))
        known[key] = pair
        return pair
      }
    }
  }
#endif
