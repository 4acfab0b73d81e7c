/// The texts in a project that `moonbase init` creates.
///
/// The files of the example work together: the script reads `people.csv`, the extension defines the
/// class of the attribute `color`, and the test uses both. The texts are constants, except for the
/// README.
enum StarterTexts {
  /// The project file, which names the store, the model and the extension.
  static let project = """
    -- What commands in this folder work with. Options win; --no-project leaves it out.
    return {
      store = "people.sqlite",
      model = "model.lua",
      extensions = { "people.lua" },
    }

    """

  /// The model with the entity `Person`.
  static let model = """
    return {
      entities = {
        Person = {
          attributes = {
            name = { "string", optional = false, max_length = 100 },
            email = "string",
            age = { "integer16", default = 0, min = 0 },
            -- Kept as bytes, which the transformer of people.lua makes of a colour and a colour of.
            color = { "transformable", transformer = "ColorTransformer", class = "Color" },
            -- Derived by people.lua, and stored.
            domain = "string",
          },
        },
      },
    }

    """

  /// The extension with a class, a transformer, a rule and a derived attribute.
  static let extensionText = """
    -- The extension: what Lua adds to the model. Change it, and the program behaves differently.
    local Color = {}
    Color.__index = Color

    function Color.new(red, green, blue)
      return setmetatable({ red = red, green = green, blue = blue }, Color)
    end

    function Color.__eq(left, right)
      return left.red == right.red and left.green == right.green and left.blue == right.blue
    end

    function Color.__tostring(color)
      return ("#%02x%02x%02x"):format(color.red, color.green, color.blue)
    end

    -- What commands print, and read from data: "#ff8000".
    Color.text = Color.__tostring
    function Color.parse(text)
      local red, green, blue = text:match("^#(%x%x)(%x%x)(%x%x)$")
      if not red then return nil, "a colour is written as #ff8000, not " .. text end
      return Color.new(tonumber(red, 16), tonumber(green, 16), tonumber(blue, 16))
    end

    return {
      name = "people",
      version = "1.0",
      classes = { Color = Color },
      transformers = {
        ColorTransformer = {
          class = "Color",
          transform = function(color) return string.char(color.red, color.green, color.blue) end,
          reverse = function(bytes) return Color.new(bytes:byte(1, 3)) end,
        },
      },
      entities = {
        Person = {
          validate = {
            email = function(email) return email:find("@", 1, true) ~= nil, "has no @" end,
          },
          derived = {
            domain = {
              inputs = { "email" },
              stored = true,
              get = function(email) return email and email:match("@(.+)$") end,
            },
          },
        },
      },
    }

    """

  /// The script that imports the rows and prints the objects.
  static let script = """
    -- moonbase run script.lua
    local csv = require("moonbase.csv")
    local context = moonbase.context

    for row in csv.rows(assert(io.open("people.csv"))) do
      context:upsert("Person", { "email" }, {
        name = row.name, email = row.email, age = math.tointeger(tonumber(row.age)),
        color = assert(moonbase.classes.Color.parse(row.color)),
      })
    end
    assert(context:save())

    for person in context:fetch("Person"):where("age >= %d", 30):sort("name"):each() do
      print(person.name, person.domain, person.color)
    end

    """

  /// The rows of the example.
  static let data = """
    name,email,age,color
    Captain Scarlet,scarlet@spectrum.example,32,#ff2400
    Captain Blue,blue@spectrum.example,28,#0000ff
    Destiny Angel,destiny@cloudbase.example,30,#ffffff

    """

  /// The test of the extension.
  static let test = """
    -- moonbase test
    return {
      ["a colour is kept as bytes and comes back"] = function(t)
        local Color = moonbase.classes.Color
        local person = t.context:insert("Person", { name = "Ann", color = Color.new(255, 128, 0) })
        assert(t.context:save())
        t.context:refresh(person, false)
        t.equal(tostring(person.color), "#ff8000")
      end,

      ["an address needs an @"] = function(t)
        t.context:insert("Person", { name = "Ann", email = "nobody" })
        t.fails(function() return t.context:save() end, "has no @")
      end,

      ["the domain follows the address"] = function(t)
        local person = t.context:insert("Person", { name = "Ann", email = "ann@example.org" })
        assert(t.context:save())
        t.equal(person.domain, "example.org")
        person.email = nil
        assert(t.context:save())
        t.equal(person.domain, nil)
      end,
    }

    """

  /// The README with a table of the files and the first commands.
  ///
  /// - Parameters:
  ///   - store: The name of the store's file.
  ///   - entity: The name of an entity for the examples.
  ///   - attribute: The name of an attribute for the examples.
  ///   - name: The name of the extension.
  ///   - script: A sentence about the script.
  static func readme(store: String, entity: String, attribute: String, extension name: String, script: String) -> String
  {
    """
    # A Moonbase project

    | file | is |
    |---|---|
    | `moonbase.project.lua` | which store, model and extensions the commands of this folder work with |
    | `model.lua` | the entities and their attributes |
    | `\(name).lua` | the extension: rules, derived attributes, transformers |
    | `script.lua` | a script that \(script) |
    | `\(name)_test.lua` | tests of the extension |
    | `.moonbase/types`, `.luarc.json`, `.luacheckrc` | what an editor with the Lua language server, and luacheck, know of the model |

    ```sh
    moonbase test                                  # runs *_test.lua
    moonbase run script.lua
    moonbase repl                                  # a prompt: context:fetch("\(entity)")
    moonbase fetch \(entity) --limit 10             # what is in \(store)
    moonbase each \(entity) --do 'print(object.\(attribute))' --dry-run
    moonbase check                                 # is the extension sound?
    moonbase doctor                                # rows against rules
    moonbase info
    ```

    After a change of `model.lua`: `moonbase migrate --to model.lua`, and `moonbase model types --output .` for the editor. Once
    the extension has a stored derived attribute, and that is changed: `moonbase recompute \(entity)`.

    """
  }
}
