import ArgumentParser
import MoonbasePlatform

/// The command `moonbase`.
///
/// The process starts here. Arguments are checked before the argument parser sees them, because the
/// parser accepts some mistakes silently. The exit statuses are listed in `ExitStatus`.
@main
enum Main {
  /// Runs the command and ends the process with its exit status.
  static func main() {
    StandardStream.open()
    // If a file would exceed the limit of the user, the write fails, and the process does not end in the middle of a
    // save.
    signal(SIGXFSZ, SIG_IGN)
    if let place = place(ofUnreadableArgument: CommandLine.unsafeArgv) {
      Terminal.complain("moonbase: argument \(place) is no UTF-8 text: names of files must be, rename the file")
      exit(ExitStatus.usage)
    }
    // Swift reads the arguments from /proc, and finds none if a container has no /proc.
    if CommandLine.arguments.isEmpty {
      Terminal.complain("moonbase: the arguments cannot be read: mount /proc")
      exit(ExitStatus.usage)
    }
    let arguments = CommandLine.arguments.dropFirst()
    // The argument parser would double the start time of a script.
    let status = arguments.first == "run" ? RunCommand.main(arguments.dropFirst()) : run(Array(arguments))
    exit(ending(status))
  }

  /// The exit status. If output could not be written, the status is a failure.
  ///
  /// The profile is printed, and buffered output is written, before the status is known.
  private static func ending(_ status: Int32) -> Int32 {
    CommandProfile.report()
    guard let failure = StandardStream.failure() else { return status }
    Terminal.complain("moonbase: standard output: \(failure)")
    return status == ExitStatus.done ? ExitStatus.failed : status
  }

  /// Swift would repair an argument that is not valid UTF-8, and a repaired path is the path of another file.
  ///
  /// Returns the index of such an argument, or nil if all arguments are valid.
  private static func place(
    ofUnreadableArgument words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) -> Int? {
    var place = 0
    while let word = words[place] {
      if String(validatingCString: word) == nil { return place }
      place += 1
    }
    return nil
  }

  /// Parses the arguments and runs the command.
  ///
  /// - Parameter arguments: The words after the name of the program.
  /// - Returns: The exit status.
  private static func run(_ arguments: [String]) -> Int32 {
    if let problem = CommandNames.problem(with: arguments) ?? RepeatedOptions.problem(with: arguments) {
      Terminal.complain("moonbase: \(problem)")
      return ExitStatus.usage
    }
    do {
      var command = try RootCommand.parseAsRoot(arguments)
      Interruption.endsProcess()
      try command.run()
      return ExitStatus.done
    } catch {
      return report(error)
    }
  }

  /// Prints the error. For wrong usage, the parser has the status 64, and this command has the status 2.
  ///
  /// Help and the version are errors for the parser too. Their text is printed on standard output,
  /// and the status is 0.
  private static func report(_ error: any Error) -> Int32 {
    switch RootCommand.exitCode(for: error) {
    case .success:
      Terminal.print(RootCommand.message(for: error))
      return ExitStatus.done
    case .validationFailure:
      let message = RootCommand.fullMessage(for: error)
      Terminal.complain(message.hasPrefix("Error: ") ? "moonbase: \(message.dropFirst(7))" : message)
      return ExitStatus.usage
    case let code:
      guard !(error is ExitCode) else { return code.rawValue }
      if let error = error as? UsageError {
        Terminal.complain("moonbase: \(error)")
        return ExitStatus.usage
      }
      Terminal.complain("moonbase: \(error)")
      ErrorPage.point(to: error)
      return ExitStatus.status(for: error)
    }
  }
}
