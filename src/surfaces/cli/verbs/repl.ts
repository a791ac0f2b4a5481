// `errand repl`: a session with the ledger, line by line: commands, messages for tasks, and JavaScript.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Engine, EngineOptions } from '../../../engine-api.ts'
import { type FlagsOf, misuse, switches, texts } from '../../../terminal/arguments.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import type { CommandIo } from '../../../terminal/io.ts'
import { StopListener } from '../../../terminal/stop-listener.ts'
import { endCommands } from '../end-commands.ts'
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
  usage: 'repl [--work] [--inherit-env] [--quiet] [-e LINE]… [--file F] [--model SPEC] [--files DIR]',
  help: [
    'A session with the ledger. "@TASK text" tells a task something and follows it to its answer, "/help" lists the commands, and',
    'everything else is JavaScript with `await`: engine, bus, abilities, tasks. TAB completes; Ctrl-C breaks off a wait; Ctrl-D ends.',
    '  --work       work here on everything that is ready in the ledger; else it only commands',
    '  --quiet      say nothing of what happens to tasks meanwhile',
    '  -e LINE      carry out this line instead; may be given several times',
    '  --file F     carry out the lines of this file instead; lines may also come through a pipe',
    '  --concurrency N  with --work: how many tasks may run at once',
    '  --inherit-env    with --work: commands have all variables of this process but its secrets; else the usual ones',
    'Such lines are carried out strictly in order; the first error ends them, with 2 for a wrong request and 1 for anything else.',
    'With --work there are models for agents:',
    agentOptionsHelp,
    'What was typed is kept in ~/.errand_repl_history, or in the file that ERRAND_HISTORY names; empty: nowhere.',
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    if (values.json)
      throw misuse('--json says nothing here: a line prints what it gives, `JSON.stringify(await list())` too.')
    const script = await givenScript(io, values)
    const engine = await openEngine(io, values, await engineOptions(io, values))
    try {
      return script === undefined
        ? await converse(io, engine, values.quiet === true)
        : await carryOut(io, engine, script)
    } finally {
      await engine.close()
    }
  },
})

type ReplFlags = FlagsOf<typeof options>

/** The lines that are given instead of typed; undefined where somebody sits at a terminal. */
async function givenScript(io: CommandIo, flags: ReplFlags): Promise<string | undefined> {
  if (flags.eval !== undefined && flags.file !== undefined) throw misuse('Give either -e or --file.')
  if (flags.eval !== undefined) return flags.eval.join('\n')
  if (flags.file !== undefined) return await textOf(io, flags.file, 'file', 'the lines in')
  if (io.keyboard !== undefined) return undefined
  const input = io.input?.()
  if (input === undefined)
    throw misuse('There is no terminal to talk at. Give lines with -e, --file or through a pipe.')
  return await text(input)
}

/** With --work what `errand run` has; else nothing, and it only commands. */
async function engineOptions(io: CommandIo, flags: ReplFlags): Promise<EngineOptions> {
  const idle = (['model', 'files', 'max-iterations', 'concurrency', 'inherit-env'] as const).find(
    (flag) => flags[flag] !== undefined,
  )
  if (!flags.work && idle !== undefined) throw misuse(`--${idle} goes with --work.`)
  return flags.work ? await workingOptions(io, await openableLedger(io, flags), flags) : { work: false }
}

async function carryOut(io: CommandIo, engine: Engine, script: string): Promise<number> {
  const { runScript } = await import('../../repl/index.ts')
  using stop = new StopListener(io)
  stop.endCommands = () => endCommands(engine)
  const code = await runScript(engine, script, { stdout: io.stdout, stderr: io.stderr, signal: stop.signal })
  return stop.signal.aborted ? exitCodes.interrupted : code
}

/** Ctrl-C is a key here. A listener for it would take from Node the means to break off a loop, so there is none. */
async function converse(io: CommandIo, engine: Engine, quiet: boolean): Promise<number> {
  const { startRepl } = await import('../../repl/index.ts')
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
