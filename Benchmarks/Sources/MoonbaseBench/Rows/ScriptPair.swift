import Foundation
import Moonbase
import MoonbaseLua

/// A script that makes its preparations and returns a function with the timed work.
final class ScriptSide {
  private let domain: ScriptDomain
  private let work: LuaFunction

  /// Runs a script with the size of the work and the folder of its files.
  init(_ script: String, _ workplace: Workplace) throws {
    domain = try ScriptDomain()
    try domain.installOpen { try PersistentContainer($0).opened }
    let chunk = try domain.state.load(script, name: "row")
    let found = try chunk(.integer(Int64(workplace.count)), .text(workplace.folder.path))
    guard case .function(let work)? = found.first else { throw Failure("the script gave \(found)") }
    self.work = work
  }

  deinit { domain.close() }

  func run() throws -> Answer { try Benchmark.number(work()) }
}

/// Two scripts to compare, both prepared before each round.
final class ScriptPair {
  private let scripts: (yardstick: String, subject: String)
  private var sides: (yardstick: ScriptSide, subject: ScriptSide)?

  init(yardstick: String, subject: String) { scripts = (yardstick, subject) }

  func prepare(_ workplace: Workplace) throws {
    sides = nil
    sides = (try ScriptSide(scripts.yardstick, workplace), try ScriptSide(scripts.subject, workplace))
  }

  func run(_ side: KeyPath<(yardstick: ScriptSide, subject: ScriptSide), ScriptSide>) throws -> Answer {
    guard let sides else { throw Failure("the row was not prepared") }
    return try sides[keyPath: side].run()
  }
}
