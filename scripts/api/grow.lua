return function(context, arguments) return context:fetch("Person"):count() + arguments end
