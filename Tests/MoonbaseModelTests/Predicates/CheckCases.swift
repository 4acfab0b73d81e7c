/// Predicates that are invalid for the entity Person of `World`, and parts of the messages.
let checkCases = CaseTable(
  #"""
  nam == "a" => Person has no property nam; did you mean name?
  Name == "a" => did you mean name?
  wholly == 5 => Person has no property wholly
  department.nam == "a" => Department has no property nam (in department.nam); did you mean name?
  department.name.length == 5 => asks the attribute name for length, but it is a string, which has no keys; write FUNCTION(name, "length")
  department.name.size == 5 => which has no keys
  now > born => Person has no property now; the function is written now()
  department.staff[0].name == "a" => department.staff[0] has no meaning: the relationship staff is not ordered
  department.staff[LAST].children[0].name == "a" => the relationship staff is not ordered
  SUBQUERY(department.staff, $x, $x.age > 5)[FIRST].age == 7 => the relationship staff is not ordered
  code == "6BA7" => code is a UUID, and the text "6BA7" is no UUID such as 6BA7B810-
  code IN {"6BA7"} => the text "6BA7" is no UUID
  born > "x" => born is a date, and the text "x" is no ISO 8601 date such as 2001-01-01
  salary = "x" => and the text "x" is no decimal number
  name IN {"Ann", 3} => impossible comparison: name is a string, 3 is a number
  name IN {1, "x"} => impossible comparison: name is a string, 1 is a number
  age & "a" == 1 => bitwiseAnd:with: has no meaning for "a", which is a string
  ~name == 1 => onesComplement: has no meaning for name
  age IN {1, {2, 3}} => {2, 3} is a list, but an element of the list beside IN is one value
  name == Ann => Person has no property Ann; a text is written in quotes: 'Ann'
  name CONTAINS Ann => a text is written in quotes: 'Ann'
  name == nam => did you mean name?; a text is written in quotes: 'nam'
  name IN {Ann, "Bob"} => a text is written in quotes: 'Ann'
  ANY children.name == Ann => a text is written in quotes: 'Ann'
  age = {1, 2} => impossible comparison: age is a number, {1, 2} is a list; write IN
  {1, 2} != age => is a list; write IN
  {1, "x"} CONTAINS age => impossible comparison: age is a number, "x" is a string
  name MATCHES "(" => “(” is no regular expression
  boss.deparment.name == "a" => did you mean department?
  children.age == 5 => to-many key not allowed here
  children.@distinctUnionOfObjects.age == {36} => to-many key not allowed here
  children == NULL => to-many key not allowed here
  5 == children.age => to-many key not allowed here
  department.staff.age > 5 => to-many key not allowed here
  children BETWEEN {1, 2} => to-many key not allowed here
  age == children => to-many key not allowed here
  ANY age == 5 => need a to-many key path
  ALL department.name == "a" => need a to-many key path
  ANY children.nam == "a" => did you mean name?
  NONE department == NULL => need a to-many key path
  age == "five" => impossible comparison: age is a number, "five" is a string
  name == 5 => impossible comparison
  name > 5 => impossible comparison
  born == "yesterday" => impossible comparison
  code == "no uuid" => impossible comparison
  active == "yes" => impossible comparison
  department == 5 => impossible comparison
  department == "Sales" => impossible comparison
  department.name == age => impossible comparison
  name == department => impossible comparison
  age IN {1, "two"} => impossible comparison
  name IN {1, 2} => impossible comparison
  age IN 5 => IN needs a list
  age IN name => IN needs a list
  age BETWEEN {"a", "b"} => impossible comparison
  ANY children.age == "five" => impossible comparison
  ANY children.name > 5 => impossible comparison
  department > boss => objects have no order
  age CONTAINS "5" => CONTAINS compares strings, but age is a number
  born LIKE "2*" => LIKE compares strings
  name CONTAINS 5 => CONTAINS compares strings, but 5 is a number
  department MATCHES "a" => MATCHES compares strings
  ANY children.age BEGINSWITH "5" => BEGINSWITH compares strings
  children CONTAINS 5 => impossible comparison
  5 IN children => impossible comparison
  "x" IN children.age => impossible comparison
  children.@count == "two" => impossible comparison
  children.@sum.nam == 5 => did you mean name?
  children.@sum == 5 => needs an attribute behind it
  age.@count == 5 => needs a to-many relationship
  children.@distinctUnionOfObjects.age.@count == 5 => has two operators: write one of them as a function
  department.@count == 5 => needs a to-many relationship
  children.@cuont == 5 => there is no operator @cuont; did you mean @count?
  SUBQUERY(children, $x, $x.nam == "a").@count > 0 => did you mean name?
  SUBQUERY(children, $x, $x.age == "a").@count > 0 => impossible comparison
  SUBQUERY(children, $x, $x.children == NULL).@count > 0 => to-many key not allowed here
  SUBQUERY(department, $x, $x.name == "a").@count > 0 => SUBQUERY needs a to-many key path
  SUBQUERY(age, $x, $x == 1).@count > 0 => SUBQUERY needs a to-many key path
  TERNARY(nam == "a", 1, 2) == 1 => did you mean name?
  uppercase(nam) == "A" => did you mean name?
  uppercase(name) == 5 => impossible comparison
  abs(age) == "5" => impossible comparison
  NOT nam == "a" => did you mean name?
  age == 5 AND nam == "a" => did you mean name?
  age == 5 OR (name == "x" AND nik == "a") => did you mean nick?
  children[0].nam == "a" => did you mean name?
  -- Unknown keys inside every kind of expression.
  add(nam, 1) == 1 => did you mean name?
  age + (agee * 2) > 3 => did you mean age?
  name IN {"a", nik} => did you mean nick?
  age BETWEEN {1, agee} => did you mean age?
  max({age, agee}) == 1 => did you mean age?
  CAST(bornn, "NSNumber") > 1 => did you mean born?
  FUNCTION(nam, "length") > 3 => did you mean name?
  FUNCTION(name, "stringByAppendingString:", nik) == "a" => did you mean nick?
  TERNARY(age > 1, nam, nick) == "a" => did you mean name?
  TERNARY(age > 1, name, nik) == "a" => did you mean nick?
  ($v := agee) == 1 => did you mean age?
  ($v := children) != NULL => to-many key not allowed here
  ($v := department) != NULL AND $v.nam == "a" => did you mean name?
  SUBQUERY(childrn, $x, $x.age == 1).@count > 0 => did you mean children?
  SUBQUERY(children, $x, ANY $x.children.nam == "a").@count > 0 => did you mean name?
  SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.nam == $x.name).@count > 0).@count > 0 => did you mean name?
  SUBQUERY(children, $x, $x.age == agee).@count > 0 => did you mean age?
  children[LAST].nam == "a" => did you mean name?
  ANY SUBQUERY(children, $x, $x.age > 1).nam == "a" => did you mean name?
  NOT (NOT (nam == "a")) => did you mean name?
  -- Arguments of the wrong kind.
  uppercase(age) == "A" => uppercase: has no meaning for age, which is a number
  sqrt(name) > 1 => sqrt: has no meaning for name, which is a string
  age + name > 1 => add:to: has no meaning for name, which is a string
  department + 1 > 1 => add:to: has no meaning for department, which is an object of Department
  abs(children.age) == 5 => to-many key not allowed here
  sum(age) == 5 => sum: needs a collection, but age is a number
  age[0] == 5 => objectFrom:withIndex: needs a collection, but age is a number
  FUNCTION(age, "length") == 5 => length has no meaning for age, which is a number
  children.@sum.name == 5 => needs numbers, but name is a string
  children.@avg.born == 5 => needs numbers, but born is a date
  """#)
