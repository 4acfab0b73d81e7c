import MoonbasePlatform
import MoonbaseScripting

extension Repl {
  /// Ends the prompt, or returns nil if the user wants to stay. If a script gives a status, it is kept unless changes
  /// are lost.
  ///
  /// - Parameters:
  ///   - status: The exit status that is wanted.
  ///   - isGiven: Whether a script gives the status, as with `os.exit`.
  /// - Returns: The exit status, or nil if the prompt continues.
  func leave(status: Int32, isGiven: Bool = false) -> Int32? {
    let count = prompt.unsavedCount
    guard count > 0 else { return isGiven ? status : ending(status) }
    let objects = count == 1 ? "1 changed object is" : "\(count) changed objects are"
    guard lines.isInteractive else {
      complain("\(objects) not saved: call context:save() or .save to keep changes")
      return status == ExitStatus.done ? ExitStatus.failed : status
    }
    return ask("\(objects) not saved. Save? [y]es, [n]o, [c]ancel: ", status)
  }

  /// The number of invalid answers after which the prompt continues.
  private static let greatestTries = 5

  /// Asks whether changes are saved. Returns nil if the user cancels.
  private func ask(_ question: String, _ status: Int32) -> Int32? {
    for _ in 0..<Self.greatestTries {
      guard let answer = try? lines.next(question) else { break }
      switch answer {
      case .interrupted: return nil
      case .end:
        complain("nothing was saved")
        return ExitStatus.failed
      case .line(let line):
        switch String(decoding: line, as: UTF8.self).lowercased().filter({ $0 != " " }) {
        case "y", "yes":
          guard save() else { return nil }
          if prompt.unsavedCount == 0 { return ending(status) }
          complain("changes of child contexts are left: save them into their parents, as in child:save()")
          return nil
        case "n", "no": return ending(status)
        case "c", "cancel": return nil
        default: continue
        }
      }
    }
    return nil
  }

  /// The exit status, which is a failure if an input of a pipe has failed.
  private func ending(_ status: Int32) -> Int32 {
    status == ExitStatus.done && hasFailed && !lines.isInteractive ? ExitStatus.failed : status
  }

  /// A hint about changes in child contexts, which a save of the main context does not contain.
  private var restOfChildren: String {
    guard prompt.unsavedOfChildren > 0 else { return "" }
    return " here: a child context has changes, so save it first, into its parent, as in child:save()"
  }

  /// Saves all changes. Returns false if this fails.
  ///
  /// Warnings are printed. Errors are printed too, and all changes stay unsaved.
  func save() -> Bool {
    var isSaved = false
    _ = perform(named: "save") {
      let (count, warnings) = try prompt.save()
      isSaved = true
      for warning in warnings { complain("warning: \(warning)") }
      guard count > 0 else { return Terminal.print("there is nothing to save\(restOfChildren)") }
      Terminal.print("saved \(ReplOutput.counted(count, "object"))")
    }
    return isSaved
  }
}
