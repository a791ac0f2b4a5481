// `errand mcp`: the board and the tasks of a ledger as tools for an agent, over standard input and output, or over HTTP for several.
import type { Readable } from 'node:stream'
import { createBoardSession } from '../../../board/board-session.ts'
import { systemClock } from '../../../core/clock.ts'
import { createRandomIds } from '../../../core/ids.ts'
import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine-api.ts'
import { modelBounds } from '../../../entities/creation-bounds.ts'
import { tokenVariables } from '../../../executors/secret-variables.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, note, print, printJson } from '../../../terminal/io.ts'
import { durationOption } from '../../../terminal/option-values.ts'
import { aborted, untilInterrupted } from '../../../terminal/stop-listener.ts'
import { keepFolders } from '../board-folders.ts'
import { boardName, boardOptions } from '../board-target.ts'
import { clientName } from '../client-name.ts'
import { plansFolder, withLedger } from '../open-ledger.ts'
import { chooseToken, orMisuse } from '../serving.ts'
import { defineVerb } from '../verb.ts'

const tokenVariable = tokenVariables.mcp

const options = {
  ...boardOptions,
  ...texts('as', 'role', 'lease', 'max-tasks', 'host', 'port', 'token-file', 'plans'),
  ...lists('abilities', 'allow-host'),
  ...switches('http'),
}

export const mcp = defineVerb({
  usage:
    'mcp [--as NAME] [--role R] [--board NAME] [--lease DURATION] [--abilities LIST] [--max-tasks N] [--plans DIR] [--http [--host H] [--port N] [--token-file F]]',
  help: [
    'Serves the board and the tasks of the ledger as tools of the Model Context Protocol, to the client that has started it: it speaks on standard output and ends with its client. Claims are kept alive for as long as the client is there; what it holds then lapses, and no task ends with it.',
    '  --as NAME         who the client is: owner of what it claims; default: ERRAND_AGENT, else its own name with four letters',
    '  --role R          its role: tasks for this role may be claimed, too',
    '  --board NAME      another board than main',
    '  --lease DURATION  how long it may be gone before others may take what it has claimed; default 1m',
    '  --abilities LIST  what becomes a tool, with commas: board:*, task:get, …; default: the board, and what one needs of tasks; agent:*, objective:*, task:context, mem:* are those of teams and memory',
    `  --max-tasks N     how many tasks clients may create below one task or root of theirs; default ${modelBounds.maxTasks}`,
    '  --plans DIR       clients may run plans, and so commands (the tool plan_run); these begin in this folder or below it',
    '  --http            serves over HTTP instead, until Ctrl-C; each client names itself in the header x-errand-agent',
    '  --host H          the address to listen at; default 127.0.0.1',
    '  --port N          default: a free one',
    '  --allow-host H    with --http: a Host header that is served, port included, in place of the usual ones; may be given several times',
    `  --token-file F    with --http: the file with the token that clients must send; else ${tokenVariable}, else a new one is made and told on standard error`,
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    refuseIdleOptions(values)
    const serve = values.http ? serveHttp : serveStdio
    return await untilInterrupted(io, (signal) =>
      withLedger(io, { ...values, create: true, plans: plansFolder(io, values) }, async (engine) => {
        const mirrors = await keepFolders(io, engine)
        try {
          return await serve(io, engine, values, signal)
        } finally {
          for (const mirror of mirrors) await mirror.close()
        }
      }),
    )
  },
})

type McpFlags = FlagsOf<typeof options>

function refuseIdleOptions(flags: McpFlags): void {
  const idle = (['host', 'port', 'allow-host', 'token-file'] as const).find((option) => flags[option] !== undefined)
  if (!flags.http && idle !== undefined) throw misuse(`--${idle} goes with --http.`)
}

/** Of the serving, whatever it goes over. */
function sharedOptions(io: CommandIo, engine: Engine, flags: McpFlags, defaultAbilities: readonly string[]) {
  const board = boardName(flags)
  const leaseMs = flags.lease === undefined ? undefined : durationOption('lease', flags.lease)
  const named = flags.abilities?.flatMap((list) => list.split(',')).map((each) => each.trim())
  return {
    abilities: flags.plans === undefined ? named : [...(named ?? defaultAbilities), 'plan:run'],
    ...(flags['max-tasks'] === undefined
      ? {}
      : { bounds: { maxTasks: wholeNumber('max-tasks', flags['max-tasks'], 0) } }),
    session: (as: string) =>
      createBoardSession({ bus: engine.bus, as, role: flags.role, board, leaseMs, surface: 'mcp', clock: systemClock }),
    onError: (error: unknown) => note(io, `errand mcp: ${messageOf(error)}`),
  }
}

function givenName(io: CommandIo, flags: McpFlags): string | undefined {
  return flags.as ?? (io.env['ERRAND_AGENT']?.trim() || undefined)
}

async function serveStdio(io: CommandIo, engine: Engine, flags: McpFlags, signal: AbortSignal): Promise<number> {
  const { defaultAbilities, serveMcpStdio } = await import('../../mcp/index.ts')
  const input = io.input?.() ?? io.keyboard
  if (input === undefined) throw misuse('There is no standard input to serve a client on; --http serves over HTTP.')
  if (input === io.keyboard) note(io, 'Serving MCP on standard input and output; Ctrl-C ends it.')
  const as = givenName(io, flags) ?? `${await clientName(input, signal)}-${fourLetters()}`
  // A client that has gone before it said anything: the end of its input is over, and would not be heard again.
  if ((input as Readable).readableEnded) return exitCodes.done
  await serveMcpStdio(engine, { ...sharedOptions(io, engine, flags, defaultAbilities), as, input, signal })
  return signal.aborted ? exitCodes.interrupted : exitCodes.done
}

async function serveHttp(io: CommandIo, engine: Engine, flags: McpFlags, signal: AbortSignal): Promise<number> {
  const { defaultAbilities, serveMcpHttp } = await import('../../mcp/index.ts')
  const port = flags.port === undefined ? undefined : wholeNumber('port', flags.port, 0)
  const { token, isNew } = await chooseToken(io, flags['token-file'], tokenVariable)
  const listening = serveMcpHttp(engine, {
    ...sharedOptions(io, engine, flags, defaultAbilities),
    as: givenName(io, flags) ?? `http-${fourLetters()}`,
    token,
    host: flags.host,
    port,
    allowedHosts: flags['allow-host'],
  })
  const server = await orMisuse(listening)
  if (isNew) note(io, `Token (only told now): ${token}`)
  if (flags.json) printJson(io, { url: server.url })
  else print(io, server.url)
  await aborted(signal)
  await server.close()
  return exitCodes.interrupted
}

/** So that two clients of one name are two. */
function fourLetters(): string {
  return createRandomIds().next('x').replace('x-', '').slice(0, 4)
}
