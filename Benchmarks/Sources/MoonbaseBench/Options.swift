/// What the command line of `scripts/bench` asks for.
struct Options {
  var json = false
  var quiet = false
  var rounds = 5
  var count = 200_000
  var only: [String] = []

  static let usage = """
    usage: scripts/bench [--json] [--quiet] [--rounds N] [--count N] [--only NAME]...

      --json        print the times of every round as JSON
      --quiet       no word on standard error about how far it is
      --rounds N    how often each side runs; at least 5, which is the default
      --count N     how many objects to work on (default: 200000)
      --only NAME   only this benchmark; repeatable
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
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": json = true
      case "--quiet": quiet = true
      case "--rounds": rounds = try number(argument, atLeast: 5)
      case "--count": count = try number(argument, atLeast: 1)
      case "--only": only.append(try value(argument))
      default: throw Failure("unknown argument '\(argument)'\n\(Self.usage)")
      }
    }
  }
}
