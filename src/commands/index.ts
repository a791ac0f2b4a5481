// What other wings use of commands: plans describe them, and check their names before any of them runs.
export { fileVariable, resultVariable } from './command-environment.ts'
export { type StoredEnvironment, secretReferenceSchema } from './secrets.ts'
