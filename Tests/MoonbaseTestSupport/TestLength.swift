import MoonbasePlatform

/// The amount of work of the tests: `scripts/test` is short, `scripts/test --long` uses full counts.
///
/// Only this file reads variables of the environment for tests: `MOONBASE_TESTS=long`, and the variables that
/// `Repetition` names.
public enum TestLength {
  private static let environment = ProcessInfo.processInfo.environment

  /// Whether full counts are used.
  public static let isLong = environment["MOONBASE_TESTS"] == "long"

  /// A number set in the environment for one run.
  static func given(_ variable: String) -> Int? { environment[variable].flatMap { Int($0) } }

  /// The first seed, if set in the environment to reproduce a failure.
  public static let firstSeed = given("MOONBASE_SEED")

  /// The loopback port of a PostgreSQL server that runs already, for instance a coordinator of Citus.
  static let server = given("MOONBASE_SERVER_PORT")

  /// The folder of stores and models of other projects, if set in the environment.
  public static let fixtures = environment["MOONBASE_FIXTURES"]

  /// Every element in the long run; in the short run the first and every `step`th after it.
  public static func sampled<Element>(_ all: [Element], every step: Int) -> [Element] {
    isLong ? all : stride(from: 0, to: all.count, by: step).map { all[$0] }
  }
}

/// The number of repetitions or objects of a test, in a short run and in the long run before a release.
///
/// All counts are defined here, so that the length of a run is visible in one place. `TestLengthTests` looks for others
/// in the tests.
public struct Repetition: Sendable {
  /// The number of this run.
  public let count: Int
  private let isGiven: Bool

  /// `variable` is the name by which the environment sets another number.
  init(short: Int, long: Int, variable: String? = nil) {
    let given = variable.flatMap(TestLength.given)
    count = given ?? (TestLength.isLong ? long : short)
    isGiven = given != nil
  }

  /// The number of seeds: 1 if the environment sets the first seed and no count.
  public var seeds: Int { TestLength.firstSeed == nil || isGiven ? count : 1 }
}

/// Killed programs, failing disks, and conflicting processes.
extension Repetition {
  public static let killedWriters = Repetition(short: 10, long: 100, variable: "MOONBASE_CYCLES")
  public static let killedMigrations = Repetition(short: 5, long: 50, variable: "MOONBASE_CYCLES")
  public static let killedImports = Repetition(short: 10, long: 100, variable: "MOONBASE_CYCLES")
  public static let killedInferences = Repetition(short: 3, long: 30, variable: "MOONBASE_CYCLES")
  public static let killedEach = Repetition(short: 10, long: 100, variable: "MOONBASE_CYCLES")
  public static let killedJobs = Repetition(short: 10, long: 100, variable: "MOONBASE_CYCLES")
  public static let lostPower = Repetition(short: 40, long: 250, variable: "MOONBASE_SEEDS")
  public static let shelfSaves = Repetition(short: 14, long: 40)
  public static let conflictingSaves = Repetition(short: 100, long: 500)
  public static let killedServers = Repetition(short: 5, long: 50, variable: "MOONBASE_CYCLES")
  public static let serverConflicts = Repetition(short: 50, long: 1_000)
}

/// Random sequences compared with a naive model.
extension Repetition {
  public static let referenceSequences = Repetition(short: 32, long: 120, variable: "MOONBASE_SEQUENCES")
  public static let plainSequences = Repetition(short: 120, long: 4_000, variable: "MOONBASE_SEQUENCES")
  public static let derivedSequences = Repetition(short: 20, long: 10_000, variable: "MOONBASE_SEQUENCES")
  public static let scriptSequences = Repetition(short: 20, long: 1_000, variable: "MOONBASE_SEQUENCES")
  public static let luaSequences = Repetition(short: 60, long: 1_000, variable: "MOONBASE_SEQUENCES")
}

/// Seeds, rounds and rows of suites that compare a context with a simpler reference.
extension Repetition {
  public static let reloads = Repetition(short: 60, long: 10_000)
  public static let reloadSeeds = Repetition(short: 10, long: 30)
  public static let limitSeeds = Repetition(short: 5, long: 100)
  public static let observerSeeds = Repetition(short: 7, long: 20)
  public static let tableOrderSeeds = Repetition(short: 40, long: 400)
  public static let newRowSeeds = Repetition(short: 4, long: 12)
  public static let parentSeeds = Repetition(short: 4, long: 12)
  public static let patternSeeds = Repetition(short: 14, long: 40)
  public static let migrationSeeds = Repetition(short: 20, long: 60)
  public static let cascadeSeeds = Repetition(short: 14, long: 40)
  public static let predicateSeeds = Repetition(short: 7, long: 20)
  public static let databaseSeeds = Repetition(short: 4, long: 12)
  public static let modelSeeds = Repetition(short: 20, long: 60)
  public static let diagramSeeds = Repetition(short: 12, long: 120)
  public static let inferenceSeeds = Repetition(short: 14, long: 40)
  public static let undoSeeds = Repetition(short: 8, long: 48)
  public static let contextSeeds = Repetition(short: 4, long: 12)
  public static let childSeeds = Repetition(short: 12, long: 40)
  public static let resultSeeds = Repetition(short: 2, long: 6)
  public static let derivationSeeds = Repetition(short: 6, long: 20)
  public static let staleInputSeeds = Repetition(short: 8, long: 200)
  public static let linkConflictSeeds = Repetition(short: 8, long: 200)
  public static let orderSeeds = Repetition(short: 3, long: 12)
  public static let windowSeeds = Repetition(short: 1, long: 3)
  public static let listRounds = Repetition(short: 80, long: 250)
  public static let dictionaryRows = Repetition(short: 150, long: 600)
}

/// Seconds for which threads run in parallel.
extension Repetition {
  public static let secondsOfReaders = Repetition(short: 2, long: 10, variable: "MOONBASE_SECONDS")
}
