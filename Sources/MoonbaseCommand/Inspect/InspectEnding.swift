import MoonbasePlatform
import MoonbaseScripting

/// Waits for Ctrl-C, and then asks about unsaved changes.
///
/// The main thread of `moonbase inspect` runs it. If there are unsaved changes and the command has
/// a terminal, the user can save, discard or return to the page. Without a terminal, the changes
/// are discarded with a message, and the command fails.
struct InspectEnding {
  /// The time between two checks for Ctrl-C, in microseconds.
  private static let pause: UInt32 = 50_000
  /// The session to halt.
  private let desk: InspectDesk
  /// The standard input of the command.
  private let input: Int32

  /// After this call, scripts cannot read from standard input, because it may be needed for the answer to a question.
  ///
  /// - Parameter desk: The running page.
  init(_ desk: InspectDesk) {
    self.desk = desk
    input = dup(STDIN_FILENO)
    let nothing = open("/dev/null", O_RDONLY)
    guard input >= 0, nothing >= 0 else { return }
    dup2(nothing, STDIN_FILENO)
    close(nothing)
  }

  /// Waits until the page ends, and returns the exit status.
  ///
  /// - Returns: A failure if changes were lost.
  func wait() -> Int32 {
    while true {
      while !Interruption.hasCome { usleep(Self.pause) }
      if let status = end() { return status }
      Interruption.reset()
      desk.resume()
      Terminal.complain("moonbase: the page is still open; Ctrl-C ends it")
    }
  }

  /// Returns the exit status, or nil if the page stays open.
  ///
  /// Halts the page, and decides what happens to its changes.
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

  /// Asks about unsaved changes. A second Ctrl-C ends the process. If the changes cannot be saved, the page stays open.
  ///
  /// - Parameter question: The question with the possible answers.
  /// - Returns: The exit status, or nil if the page stays open.
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

  /// Returns nil at the end of the input.
  ///
  /// Reads one line without a buffer, so that no bytes after it are lost.
  private func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(input, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  /// Saves all changes. Returns nil, and prints the error, if that fails.
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
