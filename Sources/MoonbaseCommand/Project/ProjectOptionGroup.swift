import ArgumentParser

/// The option of commands that use a project if there is one.
struct ProjectOptionGroup: ParsableArguments {
  /// `Project` reads this option from the arguments before commands are parsed.
  @Flag(
    name: CommandOption.noProject.parserName, help: CommandOption.noProject.parserHelp)
  var noProject = false
}

extension CommandOption {
  /// The option `--no-project` in the table of options.
  static let noProject = CommandOption(
    name: Project.leavingOut, argument: nil,
    help: "leave out what moonbase.project.lua of this folder, or of one above it, says"
  ) { _, settings in settings.leavesProjectOut = true }
}
