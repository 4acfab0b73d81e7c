/// The command line options of `scripts/bench`.
struct Options {
  var json = false
  var quiet = false
  /// Whether other libraries also do the work of the rows.
  var peers = false
  /// Whether each row is timed with ten times as many objects instead of against C.
  var growth = false
  var rounds = 5
  var count = 200_000
  var only: [String] = []

  static let usage = """
    usage: scripts/bench [--json] [--quiet] [--rounds N] [--count N] [--only NAME]... [--peers | --growth]

      --json        print the times of every round as JSON
      --quiet       no word on standard error about how far it is
      --rounds N    how often each side runs; at least 5, which is the default
      --count N     how many objects to work on (default: 200000)
      --only NAME   only this benchmark; repeatable
      --peers       beside them other libraries, as far as they are installed; the rest are named
      --growth      how the time grows from N objects (default: 100000) to ten times as many, without C
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Failure("\(option) needs a value\n\(Self.usage)") }
      return value
    }
    func number(_ option: String, atLeast least: Int) throws -> Int {
      guard let number = Int(try value(option)), number >= least else {
        throw Failure("\(option) needs a number of at least \(least)\n\(Self.usage)")
      }
      return number
    }
    var wanted: Int?
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": json = true
      case "--quiet": quiet = true
      case "--peers": peers = true
      case "--growth": growth = true
      case "--rounds": rounds = try number(argument, atLeast: 5)
      case "--count": wanted = try number(argument, atLeast: 1)
      case "--only": only.append(try value(argument))
      default: throw Failure("unknown argument '\(argument)'\n\(Self.usage)")
      }
    }
    if peers, growth { throw Failure("--growth is without peers\n\(Self.usage)") }
    count = wanted ?? (growth ? 100_000 : count)
  }
}
