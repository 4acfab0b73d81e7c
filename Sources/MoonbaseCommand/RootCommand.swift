import ArgumentParser
import MoonbasePlatform

/// The command `moonbase` with all its subcommands. It does nothing itself, and its help lists the
/// subcommands and the exit statuses.
struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "moonbase",
    abstract: "A managed object graph with Lua on board, and Core Data's file format.",
    discussion: """
      Exit status: 0 done, 1 the script, the data or a check failed, 2 usage, 3 a limit was exceeded, 4 done with rejects, \
      75 the store is busy, 130 interrupted; os.exit(n) of a script is passed on.
      """,
    version: MoonbaseVersion.text,
    subcommands: [
      RunEntry.self, ReplCommand.self, InspectCommand.self, FetchCommand.self, EachCommand.self, ImportCommand.self,
      ExportCommand.self,
      BatchCommand.self,
      RecomputeCommand.self,
      SQLCommand.self, InfoCommand.self, BackupCommand.self, HistoryCommand.self, DoctorCommand.self,
      MigrateCommand.self, ModelCommand.self, CheckCommand.self, TestCommand.self, InitCommand.self, VacuumCommand.self,
      CopyCommand.self, DiffCommand.self, ExplainCommand.self, CompletionsCommand.self, ManualCommand.self,
    ])
}
