import MoonbaseHostileFork
import MoonbasePlatform

/// `moonbase-hostile PRESET`: runs the scripts named on standard input, each in its own process, and prints how they
/// ended.
///
/// A line of the input has the path of a script and its special limits, separated by tabs. A line of the output has a
/// number (the exit status, or the negated signal) and the output of the script's process.
///
/// `moonbase-hostile signals`: tests signals, each case in its own process, with a line for each.
@main
struct Main {
  static func main() {
    guard let preset = CommandLine.arguments.dropFirst().first else { exit(2) }
    guard preset != "signals" else { return SignalTrial.runAll() }
    while let line = readLine() {
      let words = line.split(separator: "\t").map(String.init)
      guard let path = words.first else { continue }
      let trial = Trial(preset: preset, path: path, limits: Array(words.dropFirst()))
      let status = hostile_fork(
        { context in
          guard let context else { return }
          Unmanaged<Trial>.fromOpaque(context).takeUnretainedValue().run()
        }, Unmanaged.passUnretained(trial).toOpaque(), 30)
      print(status)
      fflush(nil)
    }
  }
}
