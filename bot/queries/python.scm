; `@lead` is what begins a definition before its own node: a decorator, an attribute, a template's head.
(decorated_definition) @lead
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @definition
(module (expression_statement (assignment left: (identifier) @name) @definition))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @definition)))
