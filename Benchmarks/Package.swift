// swift-tools-version: 6.2
import PackageDescription

/// Whether the rows of PostgreSQL are built, which need libpq.
let hasServer = Context.environment["MOONBASE_POSTGRESQL"] == "1"

/// A separate package, so that packages which depend on Moonbase never build it. `scripts/bench` runs it.
let package = Package(
  name: "MoonbaseBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Moonbase", path: "..", traits: hasServer ? [.defaults, "PostgreSQL"] : [.defaults])
  ],
  targets: [
    .systemLibrary(name: "YardstickSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "YardstickLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),

    .systemLibrary(name: "YardstickXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),

    // Plain C programs for the same work, on the C APIs of SQLite, Lua, libxml2 and libpq.
    .target(
      name: "Yardsticks",
      dependencies: ["YardstickSQLite", "YardstickLua", "YardstickXML"] + (hasServer ? ["YardstickPostgreSQL"] : []),
      cSettings: hasServer ? [.define("POSTGRESQL")] : []),

    .executableTarget(
      name: "moonbase-bench",
      dependencies: [
        "Yardsticks", .product(name: "Moonbase", package: "Moonbase"),
        .product(name: "MoonbaseLua", package: "Moonbase"),
      ],
      path: "Sources/MoonbaseBench",
      swiftSettings: [.treatAllWarnings(as: .error)] + (hasServer ? [.define("POSTGRESQL")] : []),
      plugins: [.plugin(name: "MoonbaseModelPlugin", package: "Moonbase")]),
  ]
    + (hasServer
      ? [.systemLibrary(name: "YardstickPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])])] : [])
)
