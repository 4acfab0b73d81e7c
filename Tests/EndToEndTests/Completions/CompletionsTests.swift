import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase completions` prints completion scripts for shells.
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

  @Test func valuesOfOptionsAreCompleted() throws {
    let bench = try Workbench()
    let script = try bench.moonbase("completions", "bash")
    try bench.write(script.output, to: "moonbase.bash")
    try bench.write(
      #"return { entities = { P = { attributes = { a = "string" } } }, fetch_requests = { old = { "P", "a == $A" } } }"#,
      to: "m.lua")
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
      complete_words "$0" fetch P --format ""; complete_words "$0" run --sandbox ""; complete_words "$0" each P --save-order ""
      complete_words "$0" repl --synchronous ""; complete_words "$0" model convert m.lua --to ""
      complete_words "$0" fetch P --model m.lua --template o; complete_words "$0" import P --encoding utf-16
      """, Workbench.command.path)
    let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").sorted().joined(separator: " ") }
    #expect(
      lines == [
        "csv json ndjson table tsv", "compat pure standard trusted", "framework guide", "full normal",
        "lua mom momd xcdatamodel xcdatamodeld xml", "old", "utf-16 utf-16be utf-16le",
      ], "\(outcome)")
    for shell in ["zsh", "fish"] {
      let text = try bench.moonbase("completions", shell).output
      #expect(text.contains("trusted") && text.contains("framework"), "\(shell)")
    }
  }

  @Test func otherShellsHaveTheirOwnAndUnknownOnesAreRefused() throws {
    let bench = try Workbench()
    #expect(try bench.moonbase("completions", "zsh").output.hasPrefix("#compdef moonbase"))
    #expect(try bench.moonbase("completions", "fish").output.contains("complete -c 'moonbase'"))
    #expect(try bench.moonbase("completions", "csh").status == 2)
  }
}
