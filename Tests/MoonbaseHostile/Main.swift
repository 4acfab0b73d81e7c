import MoonbaseHostileFork
import MoonbasePlatform

/// `moonbase-hostile PRESET`: runs the scripts named on standard input, each in a process of its own, and tells how they ended.
///
/// A line of the input is the path of a script and the limits that differ, divided by tabs; a line of the output is a number
/// (the exit status, or minus the signal) after what the script's process said.
///
/// `moonbase-hostile signals`: tries what signals do, each case in a process of its own, with a line for each.
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
