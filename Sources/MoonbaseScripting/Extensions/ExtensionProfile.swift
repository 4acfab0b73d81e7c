import MoonbasePlatform

/// The costs of the functions of extensions: the number of calls, their time, and the number of errors.
///
/// Without a profile nothing is recorded. Pass a profile to any number of containers and read it at any time.
///
/// ```swift
/// var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
/// description.extensions = [.file(colorsURL)]
/// let profile = ExtensionProfile()
/// description.profile = profile
/// // ... work with the container
/// for entry in profile.entries { print(entry.function, entry.cost.calls, entry.cost.duration) }
/// ```
///
/// A lock protects the costs, so that contexts on several threads may share a profile. Entries are keyed by file and
/// function; costs of former generations of a file are added up.
public final class ExtensionProfile: Sendable {
  /// The cost of calls, including the nested calls of other functions.
  public struct Cost: Sendable, Hashable {
    /// The number of calls.
    public internal(set) var calls = 0
    /// The total time of the calls.
    public internal(set) var duration = Duration.zero
    /// The Lua instructions, counted in thousands. Most calls of a short function therefore record none.
    public internal(set) var instructions: Int64 = 0
    /// The number of calls that threw an error.
    public internal(set) var errors = 0

    /// Adds the costs of further calls.
    static func += (sum: inout Cost, other: Cost) {
      sum.calls += other.calls
      sum.duration += other.duration
      sum.instructions += other.instructions
      sum.errors += other.errors
    }
  }

  /// The cost of a function.
  public struct Entry: Sendable, Hashable {
    /// The file of the extension, as the caller named it.
    public var source: String
    /// The function, as `Person.validate.age`.
    public var function: String
    /// The cost of its calls.
    public var cost: Cost
  }

  /// A function of a file.
  struct Key: Hashable {
    var source: String
    var function: String
  }

  /// The sums so far.
  private let costs = Lock<[Key: Cost]>([:])

  /// Called outside of the lock.
  private let handler: (@Sendable (Entry) -> Void)?

  /// An empty profile. `handler` is called after each call of a function with the cost of that call, on the thread of
  /// the call.
  public init(_ handler: (@Sendable (Entry) -> Void)? = nil) { self.handler = handler }

  /// The costs so far, the longest first.
  public var entries: [Entry] {
    costs.withLock { $0 }.map { Entry(source: $0.key.source, function: $0.key.function, cost: $0.value) }
      .sorted { ($1.cost.duration, $0.source, $0.function) < ($0.cost.duration, $1.source, $1.function) }
  }

  /// Adds a call recorded by another profile.
  package func record(_ entry: Entry) { add(entry.cost, to: Key(source: entry.source, function: entry.function)) }

  /// Adds the cost of calls, then calls the handler.
  func add(_ cost: Cost, to key: Key) {
    costs.withLock { $0[key, default: Cost()] += cost }
    handler?(Entry(source: key.source, function: key.function, cost: cost))
  }

  /// Zero for a function without calls.
  func cost(of key: Key) -> Cost { costs.withLock { $0[key] ?? Cost() } }
}
