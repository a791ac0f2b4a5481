// `errand/repl`: a session with an engine at a terminal, and the same lines as a script.

export type { ScriptIo } from './run-script.ts'
export { runScript } from './run-script.ts'
export type { ErrandRepl, ReplOptions } from './start-repl.ts'
export { startRepl } from './start-repl.ts'
