; `@lead` is what begins a definition before its own node: a decorator, an attribute, a template's head.
(template_declaration) @lead
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @definition
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @name)) @definition
(class_specifier name: (type_identifier) @name body: (_)) @definition
(namespace_definition name: (_) @name) @definition
