// swift-tools-version: 6.2
import PackageDescription

/// Swift 6 mode comes with the tools version; every warning is an error and Swift 7's features are on already.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Packages for logs, figures, spans and services, each with its trait only.
let telemetry: [Target.Dependency] = [
  .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
  .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
  .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
  .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
]

/// A second engine, with its trait only.
let postgreSQL: [Target.Dependency] = [
  .target(name: "MoonbasePostgreSQLStore", condition: .when(traits: ["PostgreSQL"]))
]

/// A tracer that keeps its spans, for tests.
let telemetryTests: [Target.Dependency] = [
  .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"]))
]

let package = Package(
  name: "Moonbase",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Moonbase", targets: ["Moonbase"]),
    .library(name: "MoonbaseModel", targets: ["MoonbaseModel"]),
    .library(name: "MoonbaseModelFormats", targets: ["MoonbaseModelFormats"]),
    .library(name: "MoonbaseStoreKit", targets: ["MoonbaseStoreKit"]),
    .library(name: "MoonbaseLua", targets: ["MoonbaseLua"]),
    .plugin(name: "MoonbaseModelPlugin", targets: ["MoonbaseModelPlugin"]),
    .executable(name: "moonbase", targets: ["MoonbaseCommand"]),
  ],
  traits: [
    // An app that names its traits, or none of them, does not load the packages of the command.
    .default(enabledTraits: ["Command"]),
    .trait(name: "Command", description: "The command moonbase, which reads its arguments with swift-argument-parser."),
    .trait(name: "Logging", description: "Logs go to swift-log where a program says so."),
    .trait(name: "Metrics", description: "Figures go to swift-metrics where a program says so."),
    .trait(name: "Tracing", description: "Spans go to swift-distributed-tracing where a program says so."),
    .trait(
      name: "Observability", description: "Logging, Metrics and Tracing together.",
      enabledTraits: ["Logging", "Metrics", "Tracing"]),
    .trait(name: "ServiceLifecycle", description: "A container is a service of swift-service-lifecycle."),
    .trait(name: "PostgreSQL", description: "Stores in PostgreSQL, through libpq."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    // None of these is loaded without its trait.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // System libraries.
    .systemLibrary(
      name: "MoonbaseCLua", pkgConfig: "lua5.4",
      providers: [.apt(["liblua5.4-dev"]), .brew(["lua@5.4"])]),
    .systemLibrary(
      name: "MoonbaseCSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "MoonbaseCZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // Apple's systems have CryptoKit. Without pkgConfig, whose library folder would come before the one of static libraries
    // that scripts/moonbase names.
    .systemLibrary(name: "MoonbaseCNettle", providers: [.apt(["nettle-dev"])]),
    // Not looked for without the trait.
    .systemLibrary(
      name: "MoonbaseCPostgreSQL", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // Its header alone: the prompt loads the library when it begins, so that no other command starts later for it.
    .systemLibrary(name: "MoonbaseCEdit", providers: [.apt(["libedit-dev"])]),

    // What the host does for a script: charged by every layer, looked at by the one that runs scripts.
    .target(name: "MoonbaseMeter"),

    // The one door through which Foundation, the C library and locks come in.
    .target(
      name: "MoonbasePlatform",
      dependencies: ["MoonbaseMeter", .target(name: "MoonbaseCNettle", condition: .when(platforms: [.linux]))],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbasePlatformTests", dependencies: ["MoonbasePlatform", "MoonbaseMeter", "MoonbaseTestSupport"],
      swiftSettings: strict),

    .target(
      name: "MoonbaseModel",
      dependencies: ["MoonbasePlatform"], swiftSettings: strict),

    // The forms in which models are written: Xcode's, compiled, Lua's; comparison and mappings.
    .target(
      name: "MoonbaseModelFormats", dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseCZlib"],
      swiftSettings: strict),

    // Below the graph: rows with pages, the protocol of stores, the store in memory.
    .target(
      name: "MoonbaseStore",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      swiftSettings: strict),

    .target(
      name: "MoonbaseGraph",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseStore",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      swiftSettings: strict),

    // Above the graph: lists that follow changes, the history of stores, and requests that write past contexts.
    .target(
      name: "MoonbaseFetchedResults", dependencies: ["MoonbaseModel", "MoonbaseGraph"], swiftSettings: strict),
    .target(
      name: "MoonbaseHistory", dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph"],
      swiftSettings: strict),
    .target(
      name: "MoonbaseBatchRequests", dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph"],
      swiftSettings: strict),

    // Typed keys as conditions and orders, and Foundation's predicates.
    .target(
      name: "MoonbaseTypedPredicates",
      dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph", "MoonbaseBatchRequests"],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseTypedPredicatesTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph", "MoonbaseBatchRequests", "MoonbaseHistory",
        "MoonbaseTypedPredicates",
        "MoonbaseSQLiteStore",
        "MoonbaseTestSupport",
      ],
      swiftSettings: strict),

    // For authors of stores: the store protocol with its pages, cells, cursors and sessions.
    .target(
      name: "MoonbaseStoreKit",
      dependencies: [
        "MoonbaseModel", "MoonbaseStore", "MoonbaseGraph", "MoonbaseBatchRequests", "MoonbaseFetchedResults",
        "MoonbaseHistory",
      ],
      swiftSettings: strict),

    // Lua: C owns every longjmp, Swift the rest.
    .target(
      name: "MoonbaseLuaShim", dependencies: ["MoonbaseCLua", "MoonbaseMeter"],
      cSettings: [.headerSearchPath(".")]),
    // The files of `lua/moonbase` and `lua/types`, compiled in.
    .target(name: "MoonbaseLuaFiles"),
    .target(
      name: "MoonbaseLua", dependencies: ["MoonbasePlatform", "MoonbaseLuaShim", "MoonbaseLuaFiles"],
      swiftSettings: strict),

    // Values in Lua, and models written in it.
    .target(
      name: "MoonbaseLuaModel",
      dependencies: ["MoonbasePlatform", "MoonbaseLua", "MoonbaseModel", "MoonbaseModelFormats"],
      swiftSettings: strict),

    .target(
      name: "MoonbaseScripting",
      dependencies: [
        "MoonbasePlatform", "MoonbaseLua", "MoonbaseLuaModel", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph",
        "MoonbaseBatchRequests", "MoonbaseFetchedResults", "MoonbaseHistory",
        "MoonbaseSQL",
      ],
      swiftSettings: strict),

    .target(
      name: "MoonbaseSQLite", dependencies: ["MoonbasePlatform", "MoonbaseCSQLite"], swiftSettings: strict),

    // SQL for all engines: layout, predicates, statements. It speaks to none of them.
    .target(
      name: "MoonbaseSQL",
      dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph"],
      swiftSettings: strict),

    .target(
      name: "MoonbaseSQLiteStore",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph", "MoonbaseSQL", "MoonbaseSQLite",
      ],
      swiftSettings: strict),

    // Work on whole SQLite stores: backups, checks and repairs, migrations.
    .target(
      name: "MoonbaseSQLiteTools",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph", "MoonbaseSQL", "MoonbaseSQLite",
        "MoonbaseSQLiteStore",
      ],
      swiftSettings: strict),

    // PostgreSQL; both are empty without the trait.
    .target(
      name: "MoonbasePostgreSQL",
      dependencies: [
        "MoonbasePlatform", .target(name: "MoonbaseCPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: strict),
    .target(
      name: "MoonbasePostgreSQLStore",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph", "MoonbaseSQL",
        "MoonbasePostgreSQL",
      ],
      swiftSettings: strict),

    // What an app imports.
    .target(
      name: "Moonbase",
      dependencies: [
        "MoonbasePlatform", "MoonbaseLua", "MoonbaseLuaModel", "MoonbaseModel", "MoonbaseModelFormats",
        "MoonbaseStore", "MoonbaseGraph", "MoonbaseFetchedResults", "MoonbaseHistory", "MoonbaseBatchRequests",
        "MoonbaseTypedPredicates", "MoonbaseScripting", "MoonbaseSQL", "MoonbaseSQLiteStore", "MoonbaseSQLiteTools",
      ] + telemetry + postgreSQL,
      swiftSettings: strict),

    // Large data in and out of stores.
    .target(
      name: "MoonbaseBatch",
      dependencies: [
        "MoonbaseCZlib", "MoonbasePlatform", "MoonbaseLua", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph",
        "MoonbaseScripting", "MoonbaseSQLite", "MoonbaseSQLiteStore", "MoonbaseSQLiteTools",
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "MoonbaseCommand",
      dependencies: [
        "Moonbase", "MoonbaseBatch", "MoonbasePlatform", "MoonbaseLua", "MoonbaseModel", "MoonbaseModelFormats",
        "MoonbaseGraph", "MoonbaseHistory", "MoonbaseScripting", "MoonbaseSQL", "MoonbaseSQLiteStore",
        "MoonbaseSQLiteTools", "MoonbaseCEdit",
        "MoonbasePageFiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
      ] + postgreSQL,
      swiftSettings: strict),
    // Makes the classes of a target's models when the target is built.
    .plugin(name: "MoonbaseModelPlugin", capability: .buildTool(), dependencies: ["moonbase-model"]),
    .executableTarget(
      name: "moonbase-model",
      dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseLuaModel"],
      path: "Sources/MoonbaseModelTool", swiftSettings: strict),
    // The files of `page/` and the page of errors, compiled in.
    .target(name: "MoonbasePageFiles"),

    // Tests.
    .testTarget(
      name: "MoonbaseScriptingTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseLua", "MoonbaseLuaModel", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph",
        "MoonbaseBatchRequests", "MoonbaseFetchedResults",
        "MoonbaseScripting",
        "MoonbaseTestSupport",
      ],
      exclude: ["Domain/Scripts", "Errors/Mistakes/Tables"], swiftSettings: strict),
    .testTarget(
      name: "MoonbaseLuaTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseLua", "MoonbaseLuaFiles", "MoonbaseTestSupport", "moonbase-hostile",
      ],
      exclude: ["Modules/Scripts", "Hostile/Attacks"], swiftSettings: strict),
    // Runs hostile scripts, each in a process of its own.
    .executableTarget(
      name: "moonbase-hostile", dependencies: ["MoonbasePlatform", "MoonbaseLua", "MoonbaseHostileFork"],
      path: "Tests/MoonbaseHostile", swiftSettings: strict),
    .target(name: "MoonbaseHostileFork", path: "Tests/MoonbaseHostileFork"),
    // A way to files for SQLite that fails when a test says so.
    .target(
      name: "MoonbaseFaultyDisk", dependencies: ["MoonbaseCSQLite"], path: "Tests/MoonbaseFaultyDisk"),
    .target(
      name: "MoonbaseTestSupport",
      dependencies: [
        "MoonbaseMeter", "MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph", "MoonbaseSQL", "MoonbaseSQLiteStore",
      ] + postgreSQL,
      path: "Tests/MoonbaseTestSupport", swiftSettings: strict),
    .testTarget(
      name: "MoonbaseGraphTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseStore", "MoonbaseGraph", "MoonbaseBatchRequests",
        "MoonbaseFetchedResults", "MoonbaseSQLiteStore", "MoonbaseTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseSQLiteTests", dependencies: ["MoonbasePlatform", "MoonbaseSQLite"], swiftSettings: strict),
    .testTarget(
      name: "MoonbaseSQLTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph", "MoonbaseSQL", "MoonbaseSQLiteStore",
        "MoonbaseTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseSQLiteStoreTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseSQL", "MoonbaseSQLiteStore", "MoonbaseSQLiteTools", "MoonbaseGraph",
        "MoonbaseBatchRequests",
        "MoonbaseFetchedResults", "MoonbaseHistory", "MoonbaseModel",
        "MoonbaseModelFormats",
        "MoonbaseSQLite", "MoonbaseTestSupport", "MoonbaseFaultyDisk",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbasePostgreSQLStoreTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseGraph", "MoonbaseBatchRequests", "MoonbaseSQL",
        "MoonbasePostgreSQL",
        "MoonbasePostgreSQLStore", "MoonbaseTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseModelTests",
      dependencies: ["MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseModelFormatsTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseCSQLite", "MoonbaseTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseTests",
      dependencies: [
        "MoonbasePlatform", "MoonbaseLua", "MoonbaseSQLite", "Moonbase", "MoonbaseStoreKit", "MoonbaseTestSupport",
      ] + telemetry + telemetryTests,
      swiftSettings: strict),
    .testTarget(
      name: "MoonbaseBatchTests",
      dependencies: [
        "Moonbase", "MoonbasePlatform", "MoonbaseBatch", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseSQLite",
        "MoonbaseTestSupport",
      ],
      swiftSettings: strict),
    // Runs the command as a person would.
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "MoonbasePlatform", "Moonbase", "MoonbaseCommand", "MoonbasePageFiles", "MoonbaseSQLite", "MoonbaseTestSupport",
        "moonbase-model",
      ],
      swiftSettings: strict),
    // Hostile input for what takes bytes from strangers (`scripts/fuzz`).
    .executableTarget(
      name: "moonbase-fuzz",
      dependencies: [
        "MoonbasePlatform", "MoonbaseModel", "MoonbaseModelFormats", "MoonbaseGraph", "MoonbaseHistory", "MoonbaseLua",
        "MoonbaseSQLite",
        "MoonbaseSQLiteStore", "MoonbaseTestSupport",
      ],
      path: "Tests/MoonbaseFuzz", swiftSettings: strict),
  ]
)

// Test targets that are left out are not built: for a filter, or the thread sanitizer, that needs a few of them (`scripts/test`).
if let wanted = Context.environment["MOONBASE_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
