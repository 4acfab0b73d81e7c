import MoonbasePlatform

/// `moonbase-fuzz NAME [--seconds N] [--inputs N] [--crashes FOLDER]`, `moonbase-fuzz NAME FILE` for a single input,
/// `--list`. With `--inputs` alone there is no time limit.
@main
struct Main {
  static func main() {
    do {
      exit(try run(Array(CommandLine.arguments.dropFirst())))
    } catch {
      FileHandle.standardError.write(Data("moonbase-fuzz: \(error)\n".utf8))
      exit(2)
    }
  }

  private static func run(_ arguments: [String]) throws -> Int32 {
    if arguments.first == "--list" {
      FuzzTarget.all.forEach { print($0.name) }
      return 0
    }
    guard let name = arguments.first, let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      throw FuzzFailure("name one of: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }
    if arguments.count == 2 {
      target.body(Array(try Data(contentsOf: URL(fileURLWithPath: arguments[1]))))
      return 0
    }
    let options = try pairs(arguments.dropFirst())
    let inputs = Int(options["--inputs"] ?? "")
    let seconds = Double(options["--seconds"] ?? "") ?? (inputs == nil ? 60 : 86_400)
    if let note = options["--worker"] {
      let first = UInt64(options["--first"] ?? "") ?? 0
      let worker = Worker(target: target, note: URL(fileURLWithPath: note))
      try worker.run(from: first, until: .now + .seconds(seconds), atMost: inputs ?? .max)
      return 0
    }
    let crashes = URL(fileURLWithPath: options["--crashes"] ?? "fuzz-crashes")
    return try Supervisor(target: target, seconds: seconds, greatestCount: inputs ?? .max, crashes: crashes).run() == 0
      ? 0 : 1
  }

  private static func pairs(_ arguments: ArraySlice<String>) throws -> [String: String] {
    var options: [String: String] = [:]
    var rest = arguments
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { throw FuzzFailure("\(option) needs a value") }
      options[option] = value
    }
    return options
  }
}
