; `@lead` is what begins a definition before its own node: a decorator, an attribute, a template's head.
(attribute_item) @lead
(function_item name: (identifier) @name) @definition
(function_signature_item name: (identifier) @name) @definition
(struct_item name: (type_identifier) @name) @definition
(enum_item name: (type_identifier) @name) @definition
(trait_item name: (type_identifier) @name) @definition
(mod_item name: (identifier) @name) @definition
(const_item name: (identifier) @name) @definition
(static_item name: (identifier) @name) @definition
(type_item name: (type_identifier) @name) @definition
(macro_definition name: (identifier) @name) @definition
(impl_item type: (type_identifier) @name) @definition
