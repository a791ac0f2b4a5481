// `errand/repl`: an interactive session with an engine, and scripts of the same lines.

export type { ScriptIo } from './run-script.ts'
export { runScript } from './run-script.ts'
export type { ErrandRepl, ReplOptions } from './start-repl.ts'
export { startRepl } from './start-repl.ts'
