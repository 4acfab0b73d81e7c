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
      complete_words moonbase fet; complete_words moonbase test --cov; complete_words moonbase run --sand
      complete_words moonbase repl --exten
      """)
    for name in ["fetch", "--coverage", "--sandbox", "--extension"] {
      #expect(outcome.output.contains(name), "\(name): \(outcome)")
    }
  }

  @Test func namesOfTheModelAtHandAreCompleted() throws {
    let bench = try Workbench.withProject()
    try bench.write("return { entities = { Robot = { attributes = { serial = 'string' } } } }", to: "other.lua")
    let script = try bench.moonbase("completions", "bash")
    try bench.write(script.output, to: "moonbase.bash")
    let command = Workbench.command.path
    let outcome = try bench.program(
      "bash", "--norc", "-c",
      """
      source ./moonbase.bash
      complete_words() {
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMPREPLY=()
        COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
        _moonbase "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        echo "${COMPREPLY[@]}"
      }
      complete_words "$0" fetch Pe; complete_words "$0" fetch Person --sort name,-a; complete_words "$0" each R
      complete_words "$0" each --model other.lua R; complete_words "$0" recompute Person ini
      complete_words "$0" fetch --model none.lua P
      """, command)
    #expect(outcome.output == "Person\nname,-age\n\nRobot\ninitial\n\n", "\(outcome)")
  }

  @Test func otherShellsHaveTheirOwnAndUnknownOnesAreRefused() throws {
    let bench = try Workbench()
    #expect(try bench.moonbase("completions", "zsh").output.hasPrefix("#compdef moonbase"))
    #expect(try bench.moonbase("completions", "fish").output.contains("complete -c 'moonbase'"))
    #expect(try bench.moonbase("completions", "csh").status == 2)
  }
}
