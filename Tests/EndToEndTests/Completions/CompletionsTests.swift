import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase completions` prints what shells complete the command with.
@Suite struct CompletionsTests {
  @Test func bashCompletesACommandAndAnOption() throws {
    let bench = try Workbench()
    let script = try bench.moonbase("completions", "bash")
    #expect(script.status == 0, "\(script)")
    try bench.write(script.output, to: "moonbase.bash")
    let outcome = try bench.program(
      "bash", "--norc", "-c",
      """
      source ./moonbase.bash
      complete_words() {
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMPREPLY=()
        COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
        _moonbase moonbase "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
      }
      complete_words moonbase fet; complete_words moonbase test --cov
      """)
    #expect(outcome.output.contains("fetch") && outcome.output.contains("--coverage"), "\(outcome)")
  }

  @Test func otherShellsHaveTheirOwnAndUnknownOnesAreRefused() throws {
    let bench = try Workbench()
    #expect(try bench.moonbase("completions", "zsh").output.hasPrefix("#compdef moonbase"))
    #expect(try bench.moonbase("completions", "fish").output.contains("complete -c 'moonbase'"))
    #expect(try bench.moonbase("completions", "csh").status == 2)
  }
}
