import MoonbasePlatform
import MoonbaseScripting

/// Waits for Ctrl-C, and asks then about unsaved changes.
struct InspectEnding {
  private static let pause: UInt32 = 50_000
  private let desk: InspectDesk

  init(_ desk: InspectDesk) { self.desk = desk }

  /// The exit status.
  func wait() -> Int32 {
    while !Interruption.hasCome { usleep(Self.pause) }
    desk.output.interrupt()
    let count = (try? desk.perform { $0.prompt.unsavedCount }) ?? 0
    guard count > 0 else { return ExitStatus.done }
    let objects = count == 1 ? "1 changed object is" : "\(count) changed objects are"
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      Terminal.complain("moonbase: \(objects) not saved: save them in the page before it is ended")
      return ExitStatus.failed
    }
    return ask("\(objects) not saved. Save? [y]es, [n]o: ")
  }

  /// The second Ctrl-C ends the process.
  private func ask(_ question: String) -> Int32 {
    while true {
      StandardStream.error.write("\n\(question)")
      guard let answer = readLine() else { return ExitStatus.failed }
      switch answer.lowercased() {
      case "y", "yes": return save()
      case "n", "no": return ExitStatus.done
      default: continue
      }
    }
  }

  private func save() -> Int32 {
    do {
      let count = try desk.perform { session in try session.perform { try session.prompt.save().count } }
      Terminal.complain("moonbase: saved \(count == 1 ? "1 object" : "\(count) objects")")
      return ExitStatus.done
    } catch {
      Terminal.complain("moonbase: \(error)")
      return ExitStatus.failed
    }
  }
}
