import MoonbasePlatform
import MoonbaseScripting

/// Waits for Ctrl-C, and asks then about unsaved changes.
struct InspectEnding {
  private static let pause: UInt32 = 50_000
  private let desk: InspectDesk
  /// The standard input of the command.
  private let input: Int32

  /// From now on scripts find nothing in standard input, where a question may have to be answered.
  init(_ desk: InspectDesk) {
    self.desk = desk
    input = dup(STDIN_FILENO)
    let nothing = open("/dev/null", O_RDONLY)
    guard input >= 0, nothing >= 0 else { return }
    dup2(nothing, STDIN_FILENO)
    close(nothing)
  }

  /// The exit status, once the page ends.
  func wait() -> Int32 {
    while true {
      while !Interruption.hasCome { usleep(Self.pause) }
      if let status = end() { return status }
      Interruption.takeBack()
      desk.goOn()
      Terminal.complain("moonbase: the page is still open; Ctrl-C ends it")
    }
  }

  /// The exit status; nil where the page stays open.
  private func end() -> Int32? {
    let count = desk.halt()
    guard count > 0 else { return ExitStatus.done }
    let objects = count == 1 ? "1 changed object is" : "\(count) changed objects are"
    guard !Interruption.isFinal, isatty(input) == 1, isatty(STDERR_FILENO) == 1 else {
      Terminal.complain("moonbase: \(objects) not saved: save them in the page before it is ended")
      return ExitStatus.failed
    }
    return ask("\(objects) not saved. Save? [y]es, [n]o, [c]ancel: ")
  }

  /// The second Ctrl-C ends the process. Changes that cannot be saved keep the page open.
  private func ask(_ question: String) -> Int32? {
    while true {
      StandardStream.error.write("\n\(question)")
      guard let answer = readLine() else {
        Terminal.complain("moonbase: nothing was saved")
        return ExitStatus.failed
      }
      switch answer.lowercased() {
      case "y", "yes": return save()
      case "n", "no": return ExitStatus.done
      case "c", "cancel": return nil
      default: continue
      }
    }
  }

  /// Nil at the end of the input.
  private func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(input, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  private func save() -> Int32? {
    do {
      let count = try desk.save()
      Terminal.complain("moonbase: saved \(count == 1 ? "1 object" : "\(count) objects")")
      return ExitStatus.done
    } catch {
      Terminal.complain("moonbase: nothing was saved: \(error)")
      return nil
    }
  }
}
