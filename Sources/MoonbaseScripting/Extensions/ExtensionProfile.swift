import MoonbasePlatform

/// The costs of the functions of extensions: the number of calls, their time, and the number of errors.
///
/// Nothing is counted without one. Give one profile to any number of containers, and read it at any time.
///
/// ```swift
/// var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
/// description.extensions = [.file(colorsURL)]
/// let profile = ExtensionProfile()
/// description.profile = profile
/// // ... work with the container
/// for entry in profile.entries { print(entry.function, entry.cost.calls, entry.cost.duration) }
/// ```
public final class ExtensionProfile: Sendable {
  /// The cost of calls. The calls that a function makes of others count for it too.
  public struct Cost: Sendable, Hashable {
    /// How often it was called.
    public internal(set) var calls = 0
    /// How long that took.
    public internal(set) var duration = Duration.zero
    /// The instructions of Lua, by the thousand as they are counted: of short functions few of many calls have any.
    public internal(set) var instructions: Int64 = 0
    /// How often it raised an error.
    public internal(set) var errors = 0

    static func += (sum: inout Cost, other: Cost) {
      sum.calls += other.calls
      sum.duration += other.duration
      sum.instructions += other.instructions
      sum.errors += other.errors
    }
  }

  /// The cost of one function.
  public struct Entry: Sendable, Hashable {
    /// The file of the extension, as it was named.
    public var source: String
    /// The function, as `Person.validate.age`.
    public var function: String
    /// The cost of its calls.
    public var cost: Cost
  }

  struct Key: Hashable {
    var source: String
    var function: String
  }

  private let costs = Lock<[Key: Cost]>([:])

  private let handler: (@Sendable (Entry) -> Void)?

  /// Makes a profile of nothing. `handler` is called after each call of a function with the cost of that call, on the
  /// thread of the call.
  public init(_ handler: (@Sendable (Entry) -> Void)? = nil) { self.handler = handler }

  /// The costs so far, the longest first.
  public var entries: [Entry] {
    costs.withLock { $0 }.map { Entry(source: $0.key.source, function: $0.key.function, cost: $0.value) }
      .sorted { ($1.cost.duration, $0.source, $0.function) < ($0.cost.duration, $1.source, $1.function) }
  }

  /// Counts a call that another profile has counted.
  package func record(_ entry: Entry) { add(entry.cost, to: Key(source: entry.source, function: entry.function)) }

  func add(_ cost: Cost, to key: Key) {
    costs.withLock { $0[key, default: Cost()] += cost }
    handler?(Entry(source: key.source, function: key.function, cost: cost))
  }

  func cost(of key: Key) -> Cost { costs.withLock { $0[key] ?? Cost() } }
}
