"""An example plug-in of xla_explorer. Importing a module of it declares its passes."""
