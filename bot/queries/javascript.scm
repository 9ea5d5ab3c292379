; `@lead` is what begins a definition before its own node: a decorator, an attribute, a template's head.
(export_statement) @lead
(function_declaration name: (identifier) @name) @definition
(generator_function_declaration name: (identifier) @name) @definition
(class_declaration name: (_) @name) @definition
(method_definition name: (_) @name) @definition
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition)))
