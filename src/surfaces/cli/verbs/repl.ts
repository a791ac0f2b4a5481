// `errand repl`: an interactive session with the ledger: commands, messages for tasks, and JavaScript.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageVersion } from '../../../core/package-folder.ts'
import type { Engine, EngineOptions } from '../../../engine/engine-api.ts'
import { shownLedger } from '../../../ledger/open-ledger.ts'
import { type FlagsOf, misuse, switches, texts } from '../../terminal/arguments.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, columnsOf, print } from '../../terminal/io.ts'
import { StopListener } from '../../terminal/stop-listener.ts'
import { wrapIndented } from '../../terminal/terminal-text.ts'
import { endCommands } from '../end-commands.ts'
import { resolveLedger } from '../ledger-path.ts'
import { agentOptions, agentOptionsHelp } from '../model-source.ts'
import { openEngine } from '../open-ledger.ts'
import { textOf } from '../read-input.ts'
import { openableLedger } from '../trusted-ledger.ts'
import { defineVerb } from '../verb.ts'
import { workingOptions } from '../working-options.ts'

const options = {
  ...agentOptions,
  ...texts('concurrency', 'file'),
  ...switches('work', 'quiet', 'inherit-env'),
  eval: { type: 'string', short: 'e', multiple: true },
} as const

export const repl = defineVerb({
  usage: 'repl [--work] [--inherit-env] [--quiet] [-e LINE]… [--file F] [--model SPEC] [--files DIR] [--mcp COMMAND]…',
  help: [
    'An interactive session with the ledger. "@TASK text" sends a message to a task and follows it to its answer, "/help" lists the',
    'commands, and everything else is JavaScript with `await`: engine, bus, abilities, tasks. TAB completes; Ctrl-C interrupts; Ctrl-D ends.',
    '  --work       run every ready task of the ledger here; default: run none',
    '  --quiet      do not print changes of tasks',
    '  -e LINE      run this line instead; may be given several times',
    '  --file F     run the lines of this file instead; lines may also come through a pipe',
    '  --concurrency N  with --work: how many tasks may run at once',
    '  --inherit-env    with --work: give commands all variables of this process except its secrets; default: only common ones',
    'Lines of a script run in order, and the first error ends the script: exit code 2 for a wrong request, 1 for other errors.',
    'With --work, models for agents:',
    agentOptionsHelp,
    'The history is saved in ~/.errand_repl_history, or in the file that ERRAND_HISTORY names; if it is empty, nowhere.',
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    if (values.json)
      throw misuse('--json has no effect here: print JSON with a line like `JSON.stringify(await list())`.')
    const script = await givenScript(io, values)
    const engine = await openEngine(io, values, await engineOptions(io, values))
    try {
      return script === undefined ? await converse(io, engine, values) : await carryOut(io, engine, script)
    } finally {
      await engine.close()
    }
  },
})

type ReplFlags = FlagsOf<typeof options>

/** The lines from -e, --file or a pipe; undefined at a terminal. */
async function givenScript(io: CommandIo, flags: ReplFlags): Promise<string | undefined> {
  if (flags.eval !== undefined && flags.file !== undefined) throw misuse('Give either -e or --file.')
  if (flags.eval !== undefined) return flags.eval.join('\n')
  if (flags.file !== undefined) return await textOf(io, flags.file, 'file', 'the lines in')
  if (io.keyboard !== undefined) return undefined
  const input = io.input?.()
  if (input === undefined) throw misuse('There is no terminal. Give lines with -e, --file or through a pipe.')
  return await text(input)
}

/** With --work the options of `errand run`; otherwise the engine runs no tasks. */
async function engineOptions(io: CommandIo, flags: ReplFlags): Promise<EngineOptions> {
  const idle = (['model', 'files', 'mcp', 'max-iterations', 'concurrency', 'inherit-env'] as const).find(
    (flag) => flags[flag] !== undefined,
  )
  if (!flags.work && idle !== undefined) throw misuse(`--${idle} needs --work.`)
  return flags.work ? await workingOptions(io, await openableLedger(io, flags), flags) : { work: false }
}

async function carryOut(io: CommandIo, engine: Engine, script: string): Promise<number> {
  const { runScript } = await import('../../repl/index.ts')
  using stop = new StopListener(io)
  stop.endCommands = () => endCommands(engine)
  const code = await runScript(engine, script, { stdout: io.stdout, stderr: io.stderr, signal: stop.signal })
  return stop.signal.aborted ? exitCodes.interrupted : code
}

function banner(ledger: string, works: boolean): string {
  return [
    `errand ${packageVersion()} on ${ledger}, ${works ? 'running its tasks' : 'running no tasks (--work runs them)'}.`,
    '/help lists the commands, "@TASK text" sends a message, everything else is JavaScript. Ctrl-D ends.',
  ].join('\n')
}

/** Installs no SIGINT listener: Ctrl-C is a key here, and a listener would prevent Node from interrupting a loop. */
async function converse(io: CommandIo, engine: Engine, flags: ReplFlags): Promise<number> {
  const quiet = flags.quiet === true
  const { startRepl } = await import('../../repl/index.ts')
  const shown = banner(shownLedger(resolveLedger(flags.ledger, io)), flags.work === true)
  if (!quiet) print(io, wrapIndented(shown, columnsOf(io.stdout) ?? 80))
  const repl = startRepl(engine, {
    input: io.keyboard as NodeJS.ReadableStream,
    output: io.stdout as unknown as NodeJS.WritableStream,
    quiet,
    historyFile: io.env['ERRAND_HISTORY'] ?? join(io.env['HOME'] ?? homedir(), '.errand_repl_history'),
  })
  let code: number | undefined
  const unlisten = io.onTermination?.(() => {
    code = exitCodes.interrupted
    repl.close()
  })
  const ended = await repl.closed
  unlisten?.()
  return code ?? ended
}
